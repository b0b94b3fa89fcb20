//! [`NetworkNamespace`]: addresses, routes and ports that a thread can make its own.
//!
//! A namespace belongs to a thread and not to a process: threads of one process can be at different places of a
//! network (setns(2)). What they start later, processes and rings of io\_uring among it, is where they are.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::Errno;

/// A network namespace that lasts at least as long as this does.
#[derive(Clone, Debug)]
pub struct NetworkNamespace(Arc<OwnedFd>);

impl NetworkNamespace {
    /// The one that `link` was opened as: `/proc/PID/ns/net`, or a bind mount of it. Whether it is one is found out by
    /// who enters it.
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

    /// The calling thread is in it from now on: its later sockets are, and those that it has stay where they are.
    ///
    /// # Errors
    /// Without `CAP_SYS_ADMIN` (EPERM), or where this is no network namespace (EINVAL).
    pub fn enter(&self) -> Result<(), Errno> {
        move_into_link_name_space(self.0.as_fd(), Some(LinkNameSpaceType::Network))
            .map_err(|errno| Errno(errno.raw_os_error()))
    }
}
