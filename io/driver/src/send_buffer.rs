//! [`SendBuffer`]: bytes the kernel has not taken yet.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::{Errno, socket};

/// Maximum number of bytes of one send call: a larger one would block the thread for too long.
pub(crate) const SEND_BYTES_MAX: usize = 256 * 1024;

/// Bytes the kernel has not taken yet, in order; almost always empty. Shared ones are not copied.
#[derive(Default)]
pub(crate) struct SendBuffer(
    #[expect(clippy::box_collection, reason = "every connection pays for the pointer, few have a queue")]
    Option<Box<VecDeque<Rest>>>,
);

struct Rest {
    bytes: Arc<[u8]>,
    from: usize,
}

/// The result of one send call.
pub(crate) struct SendProgress {
    /// Number of bytes that the kernel took.
    pub(crate) bytes: usize,
    /// The kernel took everything offered and there is more. No edge will report that it can take
    /// the rest.
    pub(crate) go_on: bool,
}

impl SendBuffer {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the number of bytes in the buffer.
    pub(crate) fn left(&self) -> usize {
        self.0.iter().flat_map(|queue| queue.iter()).map(|rest| rest.bytes.len() - rest.from).sum()
    }

    /// Adds `bytes`, from offset `from` on, at the end.
    pub(crate) fn push(&mut self, bytes: Arc<[u8]>, from: usize) {
        self.0.get_or_insert_default().push_back(Rest { bytes, from });
    }

    /// Returns the bytes that the next call offers to the kernel.
    pub(crate) fn next_chunk(&self) -> Option<&[u8]> {
        let rest = self.0.as_ref()?.front()?;
        Some(&rest.bytes[rest.from..rest.bytes.len().min(rest.from + SEND_BYTES_MAX)])
    }

    /// Removes `len` bytes of the chunk, which the kernel took.
    pub(crate) fn advance(&mut self, len: usize) {
        let Some(queue) = &mut self.0 else { return };
        let Some(rest) = queue.front_mut() else { return };
        rest.from += len;
        if rest.from == rest.bytes.len() {
            queue.pop_front();
        }
        if queue.is_empty() {
            self.0 = None;
        }
    }

    /// Hands the bytes of one call to the kernel.
    pub(crate) fn flush(&mut self, fd: &OwnedFd) -> Result<SendProgress, Errno> {
        let Some(offered) = self.next_chunk() else { return Ok(SendProgress { bytes: 0, go_on: false }) };
        let len = offered.len();
        let bytes = socket::send(fd, offered)?;
        self.advance(bytes);
        Ok(SendProgress { bytes, go_on: bytes == len && !self.is_empty() })
    }
}
