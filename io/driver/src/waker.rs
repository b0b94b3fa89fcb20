//! [`Waker`]: ends another thread's wait.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;

use crate::Errno;

/// Rings a driver from another thread; the driver answers with `Event::Woken`.
#[derive(Clone, Debug)]
pub struct Waker(Arc<OwnedFd>);

impl Waker {
    pub(crate) fn new() -> Result<Self, Errno> {
        // SAFETY: no pointers are passed.
        let fd = Errno::check(unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) })?;
        // SAFETY: `fd` was just returned by the kernel and is owned by nobody else.
        Ok(Self(Arc::new(unsafe { OwnedFd::from_raw_fd(fd) })))
    }

    pub(crate) fn fd(&self) -> &OwnedFd {
        &self.0
    }

    /// Ring. A ring that has not been heard yet is enough; more are merged with it.
    pub fn wake(&self) {
        let one = 1_u64.to_ne_bytes();
        // SAFETY: `one` is readable for its length. EAGAIN means rings are pending: as good.
        unsafe { libc::write(self.0.as_raw_fd(), one.as_ptr().cast(), one.len()) };
    }

    /// Stop ringing. Whether it rang.
    pub(crate) fn acknowledge(&self) -> bool {
        let mut count = [0_u8; 8];
        // SAFETY: `count` is writable for its length.
        unsafe { libc::read(self.0.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) > 0 }
    }
}
