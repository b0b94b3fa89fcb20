//! [`SocketSupport`]: what the kernel lets a process do with sockets, found by trying.

use crate::FileTables;

/// The socket features of this host, and why others are not available. The kernel version is not
/// sufficient: containers and administrators forbid features of the kernel, and distributions leave
/// some out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketSupport {
    /// io\_uring with all that its driver needs, or why not.
    pub uring: Result<(), Unsupported>,
    /// The best way to have more files than one table holds; [`FileTables::Shared`] if there is
    /// none.
    pub own_files: FileTables,
    /// Files this host may still open before `fs.file-max`; `None`: this process is exempt from it.
    pub files_left: Option<u64>,
    /// The value to which an administrator can raise `RLIMIT_NOFILE` (`fs.nr_open`).
    pub nr_open: u64,
}

/// Linux's default of `fs.nr_open`.
pub const NR_OPEN_DEFAULT: u64 = 1 << 20;

impl SocketSupport {
    /// Returns the features of every Linux: epoll, one descriptor table.
    pub fn plain() -> Self {
        Self {
            uring: Err(Unsupported::new("io_uring was not probed", "--engine epoll has the same effect")),
            own_files: FileTables::Shared,
            files_left: None,
            nr_open: NR_OPEN_DEFAULT,
        }
    }
}

/// Why a kernel feature is not available, and a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What was tried and the result: `io_uring_setup EPERM, kernel.io_uring_disabled=2`.
    pub cause: String,
    /// The hint: `sysctl kernel.io_uring_disabled=0`.
    pub cure: String,
}

impl Unsupported {
    /// Creates the reason from the cause and the remedy as text.
    pub fn new(cause: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { cause: cause.into(), cure: cure.into() }
    }
}
