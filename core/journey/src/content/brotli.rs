//! [`Unbrotli`]: `br`.

use std::io::Write;

use brotli_decompressor::DecompressorWriter;

use super::sink::LimitedBuffer;

/// Number of bytes that the library decodes at a time.
const CHUNK: usize = 4096;

/// First byte of a stream that requests a window of up to 1 GiB. RFC 7932 §9.1 does not use this
/// pattern and limits windows to 16 MiB, but the library would accept it.
const LARGE_WINDOW: u8 = 0b001_0001;

/// Decoder state of a brotli body.
pub(super) struct Unbrotli {
    writer: DecompressorWriter<LimitedBuffer>,
    fed: bool,
}

impl std::fmt::Debug for Unbrotli {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unbrotli").field("fed", &self.fed).finish_non_exhaustive()
    }
}

impl Unbrotli {
    pub(super) fn new() -> Self {
        let writer = DecompressorWriter::new(LimitedBuffer::default(), CHUNK);
        Self { writer, fed: false }
    }

    pub(super) fn feed(&mut self, piece: &[u8], sink: &mut LimitedBuffer) -> Result<(), ()> {
        if !self.fed && piece.first().is_some_and(|first| first & 0x7f == LARGE_WINDOW) {
            return Err(());
        }
        self.fed |= !piece.is_empty();
        std::mem::swap(self.writer.get_mut(), sink);
        let written = self.writer.write_all(piece);
        std::mem::swap(self.writer.get_mut(), sink);
        written.map_err(drop)
    }

    /// Whether the last piece ended the stream.
    pub(super) fn is_complete(&mut self) -> bool {
        !self.fed || self.writer.close().is_ok()
    }
}
