//! [`MachineFacts`]: what is known of the machine that a lab is to stand on.

/// Facts about the machine; what is `None` is not known, and what hangs on it is not checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineFacts {
    /// Its CPUs are numbered from 0 to one less.
    pub cpus: Option<u32>,
    /// Most open files that a process may be allowed (the hard `RLIMIT_NOFILE`).
    pub open_files: Option<u64>,
    /// Its memory in bytes.
    pub memory_bytes: Option<u64>,
}
