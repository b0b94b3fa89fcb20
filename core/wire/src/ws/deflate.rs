//! permessage-deflate (RFC 7692): inflating what the peer sent, and deflating without a context.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::error::Fault;

/// The end of a deflated message, which is not sent (RFC 7692 §7.2.1).
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];
/// Inflated data is passed on in pieces of at most this size.
const PIECE_BYTES: usize = 4 << 10;

/// Compresses messages. It keeps nothing between two messages, so all connections of a thread can
/// share one.
#[derive(Debug)]
pub struct Deflater {
    compress: Compress,
    out: Vec<u8>,
}

impl Default for Deflater {
    fn default() -> Self {
        Self { compress: Compress::new(Compression::fast(), false), out: Vec::new() }
    }
}

impl Deflater {
    /// Compresses a message.
    pub(super) fn deflate(&mut self, message: &[u8]) -> &[u8] {
        self.compress.reset();
        self.out.clear();
        let mut rest = message;
        loop {
            self.out.reserve(PIECE_BYTES.max(rest.len() / 2));
            let before = self.compress.total_in();
            let room = self.out.capacity() - self.out.len();
            let status = self.compress.compress_vec(rest, &mut self.out, FlushCompress::Sync);
            rest = &rest[(self.compress.total_in() - before) as usize..];
            let is_full = self.out.capacity() == self.out.len();
            if status.is_err() || (rest.is_empty() && !is_full) || room == 0 {
                break;
            }
        }
        self.out.strip_suffix(&TAIL).unwrap_or(&self.out)
    }
}

/// Decompresses the messages of one peer.
#[derive(Debug)]
pub(super) struct Inflater {
    decompress: Decompress,
    /// The peer keeps its window between messages.
    keeps_context: bool,
}

impl Inflater {
    pub(super) fn new(keeps_context: bool) -> Self {
        Self { decompress: Decompress::new(false), keeps_context }
    }

    /// Inflates a piece of a message. `each` gets the result in pieces and may reject it.
    pub(super) fn piece(
        &mut self,
        mut bytes: &[u8],
        each: &mut dyn FnMut(&[u8]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut buffer = [0; PIECE_BYTES];
        loop {
            let before = (self.decompress.total_in(), self.decompress.total_out());
            let status = self.decompress.decompress(bytes, &mut buffer, FlushDecompress::Sync);
            let read = (self.decompress.total_in() - before.0) as usize;
            let written = (self.decompress.total_out() - before.1) as usize;
            bytes = &bytes[read..];
            if written > 0 {
                each(&buffer[..written])?;
            }
            match status {
                // A final block ends the stream; the next message starts a new one.
                Ok(Status::StreamEnd) => self.decompress.reset(false),
                Ok(Status::Ok | Status::BufError) => {}
                Err(_) => return Err(Fault::NotDeflate),
            }
            if bytes.is_empty() && written < buffer.len() {
                return Ok(());
            }
            if read == 0 && written == 0 {
                return Err(Fault::NotDeflate);
            }
        }
    }

    /// Ends a message.
    pub(super) fn end(&mut self, each: &mut dyn FnMut(&[u8]) -> Result<(), Fault>) -> Result<(), Fault> {
        self.piece(&TAIL, each)?;
        if !self.keeps_context {
            self.decompress.reset(false);
        }
        Ok(())
    }
}
