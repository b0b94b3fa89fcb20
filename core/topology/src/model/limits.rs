//! [`Limits`]: the resource limits of a host.

use serde::{Deserialize, Serialize};
use wavetank_grammar::Span;

/// The resource limits of a host; `None` is unlimited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The CPUs on which its processes may run, by the machine's numbering, in ascending order.
    pub cpus: Option<Vec<u32>>,
    /// CPU time in thousandths of one CPU (1,500 is one and a half CPUs).
    pub cpu_share_milli: Option<u64>,
    /// Total memory of its processes in bytes.
    pub memory_bytes: Option<u64>,
    /// Open-file limit of each of its processes (`RLIMIT_NOFILE`).
    pub open_files: Option<u64>,
    /// Position in the file; the host's position if nothing is limited.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
}
