//! [`SocketSupport`]: what the kernel lets a process do with sockets, found by trying.

use crate::FileTables;

/// What can be had here, and why the rest cannot. Versions of kernels say nothing about it: containers and
/// administrators forbid what the kernel has, and distributions leave out what the version promises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketSupport {
    /// io\_uring with all that its driver needs, or why not.
    pub uring: Result<(), Unsupported>,
    /// The best way to more files than one table holds; [`FileTables::Shared`]: there is none.
    pub own_files: FileTables,
    /// Files this host may still open before `fs.file-max`; `None`: this process is exempt from it.
    pub files_left: Option<u64>,
    /// To what `RLIMIT_NOFILE` can be raised by an administrator (`fs.nr_open`).
    pub nr_open: u64,
}

/// Linux's default of `fs.nr_open`.
pub const NR_OPEN_DEFAULT: u64 = 1 << 20;

impl SocketSupport {
    /// What every Linux has: epoll, one table of files.
    pub fn plain() -> Self {
        Self {
            uring: Err(Unsupported::new("io_uring was not looked for", "--engine epoll says the same")),
            own_files: FileTables::Shared,
            files_left: None,
            nr_open: NR_OPEN_DEFAULT,
        }
    }
}

/// Why something of the kernel cannot be had, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What was tried and what came of it: `io_uring_setup EPERM, kernel.io_uring_disabled=2`.
    pub cause: String,
    /// What to do: `sysctl kernel.io_uring_disabled=0`.
    pub cure: String,
}

impl Unsupported {
    /// Both in words.
    pub fn new(cause: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { cause: cause.into(), cure: cure.into() }
    }
}
