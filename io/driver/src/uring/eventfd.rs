//! The eventfd of several rings.

use std::os::fd::OwnedFd;

use crate::Errno;

/// Makes the eventfd that counts the signals of rings.
pub(super) fn eventfd() -> Result<OwnedFd, Errno> {
    rustix::event::eventfd(0, rustix::event::EventfdFlags::NONBLOCK | rustix::event::EventfdFlags::CLOEXEC)
        .map_err(|errno| Errno(errno.raw_os_error()))
}
