//! [`Inflate`]: `gzip` and `deflate`.

use std::io::{self, Write};

use flate2::write::{DeflateDecoder, GzDecoder, ZlibDecoder};

use super::fault::ContentFault;
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
    /// A member of a gzip body.
    Gzip(GzDecoder<LimitedBuffer>),
    /// After the last member of a gzip body. What follows is ignored, as curl and browsers do:
    /// zeros with which some servers fill a block, the warning of a script.
    GzipSurplus,
    Unknown,
    Zlib(ZlibDecoder<LimitedBuffer>),
    Bare(DeflateDecoder<LimitedBuffer>),
}

impl Inflate {
    pub(super) fn gzip() -> Self {
        Self { kind: Kind::Gzip(GzDecoder::new(LimitedBuffer::default())), first: None, fed: false }
    }

    pub(super) fn deflate() -> Self {
        Self { kind: Kind::Unknown, first: None, fed: false }
    }

    pub(super) fn feed(&mut self, piece: &[u8], sink: &mut LimitedBuffer) -> Result<(), ContentFault> {
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

    /// Ends the body.
    ///
    /// # Errors
    /// If it is incomplete, or does not match its checksum.
    pub(super) fn finish(&mut self, sink: &mut LimitedBuffer) -> Result<(), ContentFault> {
        if !self.fed {
            return Ok(());
        }
        let ended = match &mut self.kind {
            // The decoder takes no more bytes only if the member's trailer is complete.
            Kind::Gzip(writer) => {
                return match with_sink(writer, sink, |writer| writer.write(&[0])) {
                    Ok(0) => end_member(writer, sink),
                    _ => Err(ContentFault::Truncated),
                };
            }
            Kind::GzipSurplus => Ok(()),
            Kind::Unknown => return Err(ContentFault::Truncated),
            Kind::Zlib(writer) => with_sink(writer, sink, ZlibDecoder::try_finish),
            Kind::Bare(writer) => with_sink(writer, sink, DeflateDecoder::try_finish),
        };
        ended.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => ContentFault::Truncated,
            _ => ContentFault::Broken,
        })
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

    fn write(&mut self, piece: &[u8], sink: &mut LimitedBuffer) -> Result<(), ContentFault> {
        let written = match &mut self.kind {
            Kind::Gzip(_) | Kind::GzipSurplus => return self.write_gzip(piece, sink),
            Kind::Zlib(writer) => with_sink(writer, sink, |writer| writer.write_all(piece)),
            Kind::Bare(writer) => with_sink(writer, sink, |writer| writer.write_all(piece)),
            Kind::Unknown => Ok(()),
        };
        written.map_err(|_| ContentFault::Broken)
    }

    /// Writes a piece of a gzip body, which may have several members.
    fn write_gzip(&mut self, piece: &[u8], sink: &mut LimitedBuffer) -> Result<(), ContentFault> {
        let mut rest = piece;
        while let [first, ..] = rest {
            let Kind::Gzip(writer) = &mut self.kind else { return Ok(()) };
            match with_sink(writer, sink, |writer| writer.write(rest)) {
                Ok(0) => {
                    end_member(writer, sink)?;
                    self.kind = if *first == 0x1f { Self::gzip().kind } else { Kind::GzipSurplus };
                }
                Ok(used) => rest = &rest[used..],
                Err(_) => return Err(ContentFault::Broken),
            }
        }
        Ok(())
    }
}

/// Ends a member of a gzip body that has its whole trailer.
fn end_member(writer: &mut GzDecoder<LimitedBuffer>, sink: &mut LimitedBuffer) -> Result<(), ContentFault> {
    with_sink(writer, sink, GzDecoder::try_finish).map_err(|_| ContentFault::Checksum)
}

/// Does `work` while `writer` writes to `sink`.
fn with_sink<W: Output, T>(
    writer: &mut W,
    sink: &mut LimitedBuffer,
    work: impl FnOnce(&mut W) -> io::Result<T>,
) -> io::Result<T> {
    std::mem::swap(writer.sink(), sink);
    let result = work(writer);
    std::mem::swap(writer.sink(), sink);
    result
}

/// The common interface of the three writers of flate2.
trait Output {
    fn sink(&mut self) -> &mut LimitedBuffer;
}

impl Output for GzDecoder<LimitedBuffer> {
    fn sink(&mut self) -> &mut LimitedBuffer {
        self.get_mut()
    }
}

impl Output for ZlibDecoder<LimitedBuffer> {
    fn sink(&mut self) -> &mut LimitedBuffer {
        self.get_mut()
    }
}

impl Output for DeflateDecoder<LimitedBuffer> {
    fn sink(&mut self) -> &mut LimitedBuffer {
        self.get_mut()
    }
}
