//! [`Snapshot`]: what the kernel, the target and `/proc` say at one instant.

use crate::bench::process;

use super::target_poller::Standing;

/// All that is looked at, at one instant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Snapshot {
    /// Seconds since the load was started.
    pub(super) at_s: f64,
    /// Connections, of which the kernel counts both ends; those that were there before are left out.
    pub(super) kernel: u64,
    /// The target's.
    pub(super) target: Standing,
    /// Answers that the target has given since its start.
    pub(super) answers: u64,
    /// What the load used.
    pub(super) client: Used,
    /// What the target used.
    pub(super) server: Used,
    /// Seconds that all CPUs together have worked since the machine began.
    pub(super) machine_s: f64,
}

/// What a program has and has used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Used {
    /// Memory of user mode that is resident, bytes.
    pub(super) resident: u64,
    /// User and system time so far, seconds.
    pub(super) cpu_s: f64,
}

impl Used {
    /// Of all these processes together.
    pub(super) fn for_pids(pids: &[u32]) -> Self {
        Self { resident: process::resident_bytes(pids), cpu_s: process::cpu_s(pids) }
    }
}
