//! [`Buffers`]: memory for receives; the kernel chooses the buffer of each.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::IoUring;
use io_uring::types::BufRingEntry;

use super::sqe::{GROUP, errno};
use crate::Errno;

/// Buffers of one ring; a power of two. One call brings the responses of some twenty connections.
pub(super) const BUFFERS: u16 = 64;
/// Bytes of one buffer. It is large, so that long responses arrive in as few pieces as with epoll.
/// The part that short responses do not use is never touched and takes no memory.
pub(super) const BUFFER_BYTES: usize = 64 * 1024;

/// Buffers of one ring, and the queue that gives them to the kernel. A buffer belongs to the kernel
/// from [`give`](Self::give) until a completion names it.
pub(super) struct Buffers {
    queue: Mapping,
    bytes: Mapping,
    /// Number of buffers given so far, including those not published yet.
    given: u16,
    published: u16,
}

impl Buffers {
    /// Allocates all buffers, ready to be given.
    pub(super) fn new() -> Result<Self, Errno> {
        let queue = Mapping::new(usize::from(BUFFERS) * size_of::<BufRingEntry>())?;
        let bytes = Mapping::new(usize::from(BUFFERS) * BUFFER_BYTES)?;
        let mut this = Self { queue, bytes, given: 0, published: 0 };
        for buffer in 0..BUFFERS {
            this.give(buffer);
        }
        this.publish();
        Ok(this)
    }

    /// Registers them with `uring` as its group.
    pub(super) fn register(&self, uring: &IoUring) -> Result<(), Errno> {
        let queue = self.queue.start.as_ptr() as u64;
        // SAFETY: the queue is page-aligned and has BUFFERS entries. It is unmapped only after the
        // ring is gone (`Ring` drops the instance before its buffers).
        unsafe { uring.submitter().register_buf_ring_with_flags(queue, BUFFERS, GROUP, 0) }
            .map_err(|error| errno(&error))
    }

    /// Gives `buffer` to the kernel with the next [`publish`](Self::publish).
    #[inline]
    pub(super) fn give(&mut self, buffer: u16) {
        let address = self.bytes.start.as_ptr().wrapping_byte_add(usize::from(buffer) * BUFFER_BYTES);
        let place = usize::from(self.given % BUFFERS);
        // SAFETY: `place` is in the queue, which is BUFFERS entries long. The queue was zeroed,
        // which is a valid entry. The kernel does not read entries past the published tail.
        let entry = unsafe { &mut *self.queue.start.as_ptr().cast::<BufRingEntry>().add(place) };
        entry.set_addr(address as u64);
        entry.set_len(BUFFER_BYTES as u32);
        entry.set_bid(buffer);
        self.given = self.given.wrapping_add(1);
    }

    /// Makes all given buffers visible to the kernel.
    #[inline]
    pub(super) fn publish(&mut self) {
        if self.published == self.given {
            return;
        }
        self.published = self.given;
        let first = self.queue.start.as_ptr().cast::<BufRingEntry>().cast_const();
        // SAFETY: `first` is the first entry of the queue, which is initialised; its tail field
        // lives as long as the queue.
        let tail = unsafe { &*BufRingEntry::tail(first).cast::<AtomicU16>() };
        tail.store(self.given, Ordering::Release);
    }

    /// Returns the first `len` bytes of a buffer that a completion named.
    #[inline]
    pub(super) fn bytes(&self, buffer: u16, len: usize) -> &[u8] {
        assert!(buffer < BUFFERS && len <= BUFFER_BYTES, "{len} bytes of buffer {buffer}");
        let start = self.bytes.start.as_ptr().wrapping_byte_add(usize::from(buffer) * BUFFER_BYTES);
        // SAFETY: the buffer is in the mapping, which lives as long as `self`. It is ours from the
        // completion that named it until it is given again, which borrows `self` mutably.
        unsafe { std::slice::from_raw_parts(start.cast(), len) }
    }
}

/// Zeroed memory on separate pages, which take up room only once they are touched.
struct Mapping {
    start: NonNull<libc::c_void>,
    len: usize,
}

impl Mapping {
    fn new(len: usize) -> Result<Self, Errno> {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a fresh anonymous mapping touches no other memory.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), len, access, kind, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        let start = NonNull::new(start).expect("the kernel maps nothing at address zero by itself");
        Ok(Self { start, len })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this is our own mapping, and `self` was its last user.
        unsafe { libc::munmap(self.start.as_ptr(), self.len) };
    }
}
