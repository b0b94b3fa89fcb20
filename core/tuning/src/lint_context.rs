//! [`LintContext`]: facts about the host that files are for.

use std::collections::BTreeSet;

use crate::KernelVersion;

/// Facts about the host that files are for. What is `None` is not known, and no rule assumes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LintContext {
    /// The kernel.
    pub kernel: Option<KernelVersion>,
    /// Memory of the host in bytes.
    pub memory_bytes: Option<u64>,
    /// CPUs of the host.
    pub cpus: Option<u64>,
    /// `net.core.somaxconn`, unless a linted file sets it.
    pub somaxconn: Option<u64>,
    /// `fs.nr_open`, unless a linted file sets it.
    pub nr_open: Option<u64>,
    /// `fs.file-max`.
    pub file_max: Option<u64>,
    /// `net.core.rmem_max`, unless a linted file sets it.
    pub rmem_max: Option<u64>,
    /// Version of nginx, for example (1, 22).
    pub nginx: Option<(u16, u16)>,
    /// Keys that the running kernel has, with dots; empty if not known.
    pub kernel_keys: BTreeSet<String>,
}
