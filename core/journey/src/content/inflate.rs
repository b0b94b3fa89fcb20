//! [`Inflate`]: `gzip` and `deflate`.

use std::io::Write;

use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use super::sink::LimitedBuffer;

/// Decoder state of a gzip, zlib or raw deflate body.
#[derive(Debug)]
pub(super) struct Inflate {
    kind: Kind,
    /// The first byte of a `deflate` body. Two bytes are needed to determine its format.
    first: Option<u8>,
    fed: bool,
}

#[derive(Debug)]
enum Kind {
    Gzip(MultiGzDecoder<LimitedBuffer>),
    Unknown,
    Zlib(ZlibDecoder<LimitedBuffer>),
    Bare(DeflateDecoder<LimitedBuffer>),
}

impl Inflate {
    pub(super) fn gzip() -> Self {
        Self { kind: Kind::Gzip(MultiGzDecoder::new(LimitedBuffer::default())), first: None, fed: false }
    }

    pub(super) fn deflate() -> Self {
        Self { kind: Kind::Unknown, first: None, fed: false }
    }

    pub(super) fn feed(&mut self, piece: &[u8], sink: &mut LimitedBuffer) -> Result<(), ()> {
        self.fed |= !piece.is_empty();
        if let Kind::Unknown = self.kind {
            let Some(two) = self.first_two(piece) else { return Ok(()) };
            // RFC 1950 §2.2: method 8, and the two bytes as a number are a multiple of 31.
            let zlib = two[0] & 15 == 8 && u16::from_be_bytes(two) % 31 == 0;
            self.kind = if zlib {
                Kind::Zlib(ZlibDecoder::new(LimitedBuffer::default()))
            } else {
                Kind::Bare(DeflateDecoder::new(LimitedBuffer::default()))
            };
            if let Some(first) = self.first.take() {
                self.write(&[first], sink)?;
            }
        }
        self.write(piece, sink)
    }

    /// Ends the body and returns whether it was complete.
    pub(super) fn finish(&mut self, sink: &mut LimitedBuffer) -> bool {
        if !self.fed {
            return true;
        }
        let mut finish = |writer: &mut dyn Finish| {
            std::mem::swap(writer.sink(), sink);
            let whole = writer.try_finish();
            std::mem::swap(writer.sink(), sink);
            whole.is_ok()
        };
        match &mut self.kind {
            Kind::Gzip(writer) => finish(writer),
            Kind::Zlib(writer) => finish(writer),
            Kind::Bare(writer) => finish(writer),
            Kind::Unknown => false,
        }
    }

    /// Returns the first two bytes of the body once both have arrived.
    fn first_two(&mut self, piece: &[u8]) -> Option<[u8; 2]> {
        match (self.first, piece) {
            (Some(first), [second, ..]) => Some([first, *second]),
            (None, [first, second, ..]) => Some([*first, *second]),
            (None, [first]) => {
                self.first = Some(*first);
                None
            }
            _ => None,
        }
    }

    fn write(&mut self, piece: &[u8], sink: &mut LimitedBuffer) -> Result<(), ()> {
        let mut write = |writer: &mut dyn Finish| {
            std::mem::swap(writer.sink(), sink);
            let written = writer.write_all(piece);
            std::mem::swap(writer.sink(), sink);
            written.map_err(drop)
        };
        match &mut self.kind {
            Kind::Gzip(writer) => write(writer),
            Kind::Zlib(writer) => write(writer),
            Kind::Bare(writer) => write(writer),
            Kind::Unknown => Ok(()),
        }
    }
}

/// The common interface of the three writers of flate2.
trait Finish: Write {
    fn sink(&mut self) -> &mut LimitedBuffer;
    fn try_finish(&mut self) -> std::io::Result<()>;
}

impl Finish for MultiGzDecoder<LimitedBuffer> {
    fn sink(&mut self) -> &mut LimitedBuffer {
        self.get_mut()
    }
    fn try_finish(&mut self) -> std::io::Result<()> {
        Self::try_finish(self)
    }
}

impl Finish for ZlibDecoder<LimitedBuffer> {
    fn sink(&mut self) -> &mut LimitedBuffer {
        self.get_mut()
    }
    fn try_finish(&mut self) -> std::io::Result<()> {
        Self::try_finish(self)
    }
}

impl Finish for DeflateDecoder<LimitedBuffer> {
    fn sink(&mut self) -> &mut LimitedBuffer {
        self.get_mut()
    }
    fn try_finish(&mut self) -> std::io::Result<()> {
        Self::try_finish(self)
    }
}
