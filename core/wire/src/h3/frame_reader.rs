//! [`FrameReader`]: the frames of one stream.

use super::{frame, varint};
use crate::h2::Fault;

/// The most bytes of a frame that is read as a whole.
const FRAME_BYTES_MAX: u64 = 64 * 1024;
/// The most bytes of a frame that is skipped.
const SKIPPED_BYTES_MAX: u64 = 1024 * 1024;

/// A piece of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// A whole frame of this type, which is not DATA.
    Frame(u64, &'a [u8]),
    /// Some bytes of a DATA frame; none where it begins.
    Data(&'a [u8]),
    /// A frame of an unknown type begins, which is skipped.
    Unknown,
}

/// Cuts the bytes of one stream into frames. It keeps only frames that are not complete.
#[derive(Debug, Default)]
pub(super) struct FrameReader {
    /// The part of a frame's header that has arrived.
    header: Vec<u8>,
    /// The frame that is being read, and the number of its bytes that must still arrive.
    current: Option<(u64, u64)>,
    /// The part of it that has arrived, unless it is passed on or skipped.
    kept: Vec<u8>,
}

impl FrameReader {
    /// Whether no frame has begun.
    pub(super) const fn is_between_frames(&self) -> bool {
        self.current.is_none() && self.header.is_empty()
    }

    /// Returns the next piece of `input`, and removes it there. `None`: more must arrive first.
    ///
    /// # Errors
    /// A frame is too long, or belongs to HTTP/2 (RFC 9114 §7.2.8).
    pub(super) fn next<'a, 'b: 'a>(&'a mut self, input: &mut &'b [u8]) -> Result<Option<Piece<'a>>, Fault> {
        loop {
            let Some((kind, left)) = self.current else {
                let Some(kind) = self.begin(input)? else { return Ok(None) };
                self.kept.clear();
                match kind {
                    frame::DATA => return Ok(Some(Piece::Data(b""))),
                    kind if !is_known(kind) => return Ok(Some(Piece::Unknown)),
                    _ => continue,
                }
            };
            let length = left.min(input.len() as u64) as usize;
            let (bytes, rest) = input.split_at(length);
            let is_whole = length as u64 == left;
            self.current = (!is_whole).then_some((kind, left - length as u64));
            if length == 0 && !is_whole {
                return Ok(None);
            }
            *input = rest;
            match kind {
                frame::DATA if length > 0 => return Ok(Some(Piece::Data(bytes))),
                frame::DATA => {}
                _ if !is_known(kind) => {}
                _ if is_whole && self.kept.is_empty() => return Ok(Some(Piece::Frame(kind, bytes))),
                _ => {
                    self.kept.extend_from_slice(bytes);
                    if is_whole {
                        return Ok(Some(Piece::Frame(kind, &self.kept)));
                    }
                }
            }
        }
    }

    /// Reads the header of a frame. Returns its type; `None`: it is not complete.
    fn begin(&mut self, input: &mut &[u8]) -> Result<Option<u64>, Fault> {
        while let Some((&byte, rest)) = input.split_first() {
            *input = rest;
            self.header.push(byte);
            let mut header = &self.header[..];
            let (Some(kind), Some(length)) = (varint::decode(&mut header), varint::decode(&mut header))
            else {
                continue;
            };
            self.header.clear();
            // Types of HTTP/2 that have no meaning here.
            if matches!(kind, 2 | 6 | 8 | 9) {
                return Err(Fault::Http3Frame);
            }
            let most = if is_known(kind) { FRAME_BYTES_MAX } else { SKIPPED_BYTES_MAX };
            if kind != frame::DATA && length > most {
                let is_block = kind == frame::HEADERS;
                return Err(if is_block { Fault::HeadersTooLarge } else { Fault::Http3FrameSize });
            }
            self.current = Some((kind, length));
            return Ok(Some(kind));
        }
        Ok(None)
    }
}

/// Whether frames of this type are not skipped.
const fn is_known(kind: u64) -> bool {
    use frame::{CANCEL_PUSH, DATA, GOAWAY, HEADERS, MAX_PUSH_ID, PUSH_PROMISE, SETTINGS};
    matches!(kind, DATA | HEADERS | CANCEL_PUSH | SETTINGS | PUSH_PROMISE | GOAWAY | MAX_PUSH_ID)
}
