//! [`NetworkNamespace`]: a set of addresses, routes and ports that a thread can enter.
//!
//! A namespace belongs to a thread and not to a process, so threads of one process can be in
//! different networks (setns(2)). Everything they start later, including processes and rings of
//! io\_uring, is in the same namespace.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::Errno;

/// A network namespace that lasts at least as long as this value.
#[derive(Clone, Debug)]
pub struct NetworkNamespace(Arc<OwnedFd>);

impl NetworkNamespace {
    /// Returns the namespace behind `link`: an open `/proc/PID/ns/net`, or a bind mount of it. Only
    /// [`enter`](Self::enter) checks that it is a network namespace.
    pub fn new(link: impl Into<OwnedFd>) -> Self {
        Self(Arc::new(link.into()))
    }

    /// Returns the namespace of the calling thread.
    ///
    /// # Errors
    /// If `/proc` is not mounted.
    pub fn current() -> Result<Self, Errno> {
        File::open("/proc/thread-self/ns/net")
            .map(Self::new)
            .map_err(|error| Errno(error.raw_os_error().unwrap_or(libc::ENOENT)))
    }

    /// Moves the calling thread into the namespace. This applies to sockets that it makes later;
    /// existing ones stay where they are.
    ///
    /// # Errors
    /// Without `CAP_SYS_ADMIN` (EPERM), or if this is not a network namespace (EINVAL).
    pub fn enter(&self) -> Result<(), Errno> {
        move_into_link_name_space(self.0.as_fd(), Some(LinkNameSpaceType::Network))
            .map_err(|errno| Errno(errno.raw_os_error()))
    }
}
