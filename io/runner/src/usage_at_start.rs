//! [`UsageAtStart`]: what this process and its host had used before the load.

use std::time::Duration;

use wavetank_diagnose::Throttling;
use wavetank_observe::{CpuThrottling, CpuTimes, ProcessUsage, process_usage};
use wavetank_units::Nanos;

/// See the module's description.
pub(super) struct UsageAtStart {
    process: ProcessUsage,
    cpu_times: Option<CpuTimes>,
    throttling: Option<CpuThrottling>,
}

impl UsageAtStart {
    /// Reads it now.
    pub(super) fn now() -> Self {
        Self { process: process_usage(), cpu_times: CpuTimes::read(), throttling: CpuThrottling::read() }
    }

    /// CPU time of this process since then, in user mode and in the kernel, seconds.
    pub(super) fn cpu_s(&self) -> (f64, f64) {
        let usage = process_usage();
        let seconds = |now: Duration, then: Duration| now.saturating_sub(then).as_secs_f64();
        (seconds(usage.user, self.process.user), seconds(usage.system, self.process.system))
    }

    /// The share of CPU time that the hypervisor has taken since then.
    pub(super) fn steal(&self) -> Option<f64> {
        self.cpu_times.as_ref().zip(CpuTimes::read()).map(|(then, now)| now.steal_share_since(then))
    }

    /// How a CPU quota stopped this process since then.
    pub(super) fn throttling(&self) -> Option<Throttling> {
        let CpuThrottling { quota_cpus, periods, throttled_periods, throttled_ns } =
            CpuThrottling::read()?.since(self.throttling.as_ref()?)?;
        let stopped = Nanos(i64::try_from(throttled_ns).unwrap_or(i64::MAX));
        Some(Throttling { quota_cpus, periods, throttled_periods, stopped })
    }
}
