//! [`LimitedBuffer`]: the output of a library's decoder, with a limit.

use std::io;

/// Collects at most `left` more bytes. Any further byte is an error and sets `overflowed`.
#[derive(Debug, Default)]
pub(super) struct LimitedBuffer {
    pub(super) bytes: Vec<u8>,
    pub(super) left: usize,
    pub(super) overflowed: bool,
}

impl io::Write for LimitedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.left {
            self.overflowed = true;
            return Err(io::Error::other("the decoded body exceeds its size limit"));
        }
        self.left -= bytes.len();
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
