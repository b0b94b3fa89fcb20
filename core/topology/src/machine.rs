//! [`MachineFacts`]: known facts about the machine that runs a lab.

/// Facts about the machine. A value of `None` is unknown, and the checks that depend on it are
/// skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineFacts {
    /// Number of CPUs. They are numbered from 0.
    pub cpus: Option<u32>,
    /// Highest open-file limit that a process can get (the hard `RLIMIT_NOFILE`).
    pub open_files: Option<u64>,
    /// Its memory in bytes.
    pub memory_bytes: Option<u64>,
}
