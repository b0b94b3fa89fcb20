//! [`Snapshot`]: the counts of the kernel, the target and `/proc` at one instant.

use crate::process;

use super::target_poller::Standing;

/// All observed counts at one instant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Snapshot {
    /// Seconds since the load was started.
    pub(super) at_s: f64,
    /// Connections by the kernel's count, which includes both ends. Connections from before the
    /// load are left out.
    pub(super) kernel: u64,
    /// Connections by the target's count.
    pub(super) target: Standing,
    /// Responses that the target has sent since its start.
    pub(super) answers: u64,
    /// Resource usage of the load.
    pub(super) client: Used,
    /// Resource usage of the target.
    pub(super) server: Used,
    /// Busy time of all CPUs together since the machine booted, in seconds.
    pub(super) machine_s: f64,
}

/// Resource usage of a program.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Used {
    /// Resident user memory, in bytes.
    pub(super) resident: u64,
    /// User and system time so far, seconds.
    pub(super) cpu_s: f64,
}

impl Used {
    /// Returns the sum over all these processes.
    pub(super) fn for_pids(pids: &[u32]) -> Self {
        Self { resident: process::resident_bytes(pids), cpu_s: process::cpu_s(pids) }
    }
}
