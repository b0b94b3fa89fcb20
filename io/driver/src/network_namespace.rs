//! [`NetworkNamespace`]: addresses, routes and ports that a thread can enter.
//!
//! A namespace belongs to a thread and not to a process, so threads of one process can be at
//! different places of a network (setns(2)). Processes and io\_uring rings that they start later
//! are in the same namespace.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::Errno;

/// A network namespace that lasts at least as long as this does.
#[derive(Clone, Debug)]
pub struct NetworkNamespace(Arc<OwnedFd>);

impl NetworkNamespace {
    /// The namespace that `link` refers to: `/proc/PID/ns/net`, or a bind mount of it. Whether it
    /// is one is checked by entering it.
    pub fn new(link: impl Into<OwnedFd>) -> Self {
        Self(Arc::new(link.into()))
    }

    /// That of the thread that asks.
    ///
    /// # Errors
    /// Where `/proc` is not there.
    pub fn current() -> Result<Self, Errno> {
        File::open("/proc/thread-self/ns/net")
            .map(Self::new)
            .map_err(|error| Errno(error.raw_os_error().unwrap_or(libc::ENOENT)))
    }

    /// Moves the calling thread into it. Its later sockets are there; existing ones stay where they
    /// are.
    ///
    /// # Errors
    /// Without `CAP_SYS_ADMIN` (EPERM), or where this is no network namespace (EINVAL).
    pub fn enter(&self) -> Result<(), Errno> {
        move_into_link_name_space(self.0.as_fd(), Some(LinkNameSpaceType::Network))
            .map_err(|errno| Errno(errno.raw_os_error()))
    }
}
