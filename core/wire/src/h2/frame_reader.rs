//! Cutting the bytes of a connection into frames.

use super::error::Fault;
use super::frame::{FrameHeader, HEADER_BYTES, PAYLOAD_BYTES_MAX, flag, kind};

/// Cuts bytes into frames. DATA frames are passed on as they arrive; all others are complete.
#[derive(Debug)]
pub(crate) struct FrameReader {
    /// The start of a frame that has not arrived in whole.
    partial: Vec<u8>,
    /// The DATA frame that is being read.
    data: Option<DataFrame>,
}

/// A DATA frame of which some bytes must still arrive.
#[derive(Clone, Copy, Debug)]
struct DataFrame {
    stream: u32,
    end_stream: bool,
    /// Bytes left, without padding.
    left: usize,
    /// Bytes of padding left.
    padding: usize,
    /// The length of the padding has not arrived yet.
    padded: bool,
}

/// A part of the input.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece<'a> {
    /// A complete frame.
    Frame(FrameHeader, &'a [u8]),
    /// A DATA frame starts. All of its payload counts in the windows.
    DataStart { stream: u32, length: usize },
    /// Bytes of a DATA frame.
    Data { stream: u32, bytes: &'a [u8] },
    /// A DATA frame is complete.
    DataEnd { stream: u32, end_stream: bool },
}

impl FrameReader {
    pub(crate) const fn new() -> Self {
        Self { partial: Vec::new(), data: None }
    }

    /// Whether the input ends between two frames.
    pub(crate) fn is_between_frames(&self) -> bool {
        self.partial.is_empty() && self.data.is_none()
    }

    /// Removes the next piece from `input`. `None`: more bytes are needed, and `input` is empty.
    ///
    /// # Errors
    /// If a frame is too long.
    pub(crate) fn next<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Result<Option<Piece<'a>>, Fault> {
        if self.data.is_some() {
            return self.next_of_data(input);
        }
        // A frame that was handed out from here is not needed any more.
        if self.is_whole() {
            self.partial.clear();
        }
        if self.partial.is_empty() {
            let Some(&header) = input.first_chunk::<HEADER_BYTES>() else {
                self.take(input, HEADER_BYTES);
                return Ok(None);
            };
            let header = checked(FrameHeader::parse(header))?;
            if header.kind == kind::DATA {
                *input = &input[HEADER_BYTES..];
                return self.start_data(header).map(Some);
            }
            if let Some((frame, rest)) = input.split_at_checked(HEADER_BYTES + header.length) {
                *input = rest;
                return Ok(Some(Piece::Frame(header, &frame[HEADER_BYTES..])));
            }
        }
        if self.partial.len() < HEADER_BYTES && !self.take(input, HEADER_BYTES) {
            return Ok(None);
        }
        let header = checked(self.header())?;
        if header.kind == kind::DATA {
            self.partial.clear();
            return self.start_data(header).map(Some);
        }
        if !self.take(input, HEADER_BYTES + header.length) {
            return Ok(None);
        }
        Ok(Some(Piece::Frame(header, &self.partial[HEADER_BYTES..])))
    }

    fn header(&self) -> FrameHeader {
        FrameHeader::parse(*self.partial.first_chunk().expect("a whole header"))
    }

    fn is_whole(&self) -> bool {
        self.partial.len() >= HEADER_BYTES && self.partial.len() == HEADER_BYTES + self.header().length
    }

    /// Moves bytes from `input` until `wanted` are there. Returns whether they are.
    fn take(&mut self, input: &mut &[u8], wanted: usize) -> bool {
        let missing = wanted.saturating_sub(self.partial.len()).min(input.len());
        self.partial.extend_from_slice(&input[..missing]);
        *input = &input[missing..];
        self.partial.len() >= wanted
    }

    fn start_data(&mut self, header: FrameHeader) -> Result<Piece<'static>, Fault> {
        let FrameHeader { stream, length, .. } = header;
        let padded = header.has(flag::PADDED);
        if stream == 0 {
            return Err(Fault::WrongStream);
        }
        if padded && length == 0 {
            return Err(Fault::FrameSize);
        }
        let end_stream = header.has(flag::END_STREAM);
        self.data = Some(DataFrame { stream, end_stream, left: length, padding: 0, padded });
        Ok(Piece::DataStart { stream, length })
    }

    fn next_of_data<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Piece<'a>>, Fault> {
        let Some(data) = &mut self.data else { return Ok(None) };
        if data.padded {
            let Some((&padding, rest)) = input.split_first() else { return Ok(None) };
            *input = rest;
            data.padded = false;
            data.padding = usize::from(padding);
            data.left = (data.left - 1).checked_sub(data.padding).ok_or(Fault::Padding)?;
        }
        if data.left > 0 {
            let (bytes, rest) = input.split_at(data.left.min(input.len()));
            *input = rest;
            data.left -= bytes.len();
            let piece = Piece::Data { stream: data.stream, bytes };
            return Ok((!bytes.is_empty()).then_some(piece));
        }
        let skipped = data.padding.min(input.len());
        *input = &input[skipped..];
        data.padding -= skipped;
        if data.padding > 0 {
            return Ok(None);
        }
        let DataFrame { stream, end_stream, .. } = *data;
        self.data = None;
        Ok(Some(Piece::DataEnd { stream, end_stream }))
    }
}

fn checked(header: FrameHeader) -> Result<FrameHeader, Fault> {
    if header.length > PAYLOAD_BYTES_MAX { Err(Fault::FrameTooLarge) } else { Ok(header) }
}
