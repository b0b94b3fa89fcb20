//! [`Limits`]: what a host may use of the machine.

use serde::{Deserialize, Serialize};
use wavetank_grammar::Span;

/// Bounds of a host; `None` is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The CPUs that its processes may run on, by the machine's numbers, rising.
    pub cpus: Option<Vec<u32>>,
    /// How much CPU it gets: thousandths of one CPU's time (1,500 is one and a half CPUs).
    pub cpu_share_milli: Option<u64>,
    /// Memory of all its processes together, in bytes.
    pub memory_bytes: Option<u64>,
    /// Open files of each of its processes (`RLIMIT_NOFILE`).
    pub open_files: Option<u64>,
    /// Where they stand in the file; the host's place where nothing is limited.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
}
