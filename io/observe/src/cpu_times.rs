//! [`CpuTimes`]: how the host's CPUs spent their time, from `/proc/stat`.

/// Ticks of one CPU per second. The kernel reports in units of `USER_HZ`, which is 100 on every
/// current Linux architecture except Alpha.
const TICKS_PER_SECOND: f64 = 100.0;

/// Ticks of all CPUs together since boot. Read it before and after a run; the shares describe the
/// time in between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// All ticks.
    pub total: u64,
    /// Idle ticks, including waits for disks.
    pub idle: u64,
    /// Ticks that another guest of the same machine had while this one was ready to run.
    pub steal: u64,
}

impl CpuTimes {
    /// Returns the busy CPU time since `before`, of all CPUs together, in seconds.
    pub fn busy_s_since(&self, before: &Self) -> f64 {
        let busy = |times: &Self| times.total.saturating_sub(times.idle + times.steal);
        busy(self).saturating_sub(busy(before)) as f64 / TICKS_PER_SECOND
    }

    /// Returns the share of stolen time since `before`, 0 to 1.
    pub fn steal_share_since(&self, before: &Self) -> f64 {
        share(self.steal, before.steal, self, before)
    }
}

/// Returns 0 if no tick passed.
fn share(now: u64, then: u64, after: &CpuTimes, before: &CpuTimes) -> f64 {
    let total = after.total.saturating_sub(before.total);
    if total == 0 { 0.0 } else { now.saturating_sub(then) as f64 / total as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_speak_of_the_time_between() {
        let before = CpuTimes { total: 1_000, idle: 500, steal: 10 };
        let after = CpuTimes { total: 1_200, idle: 600, steal: 20 };
        assert!((after.steal_share_since(&before) - 0.05).abs() < 1e-12);
        assert!(before.steal_share_since(&before).abs() < 1e-12);
        assert!((after.busy_s_since(&before) - 0.9).abs() < 1e-12, "90 ticks were not idle or stolen");
    }

    #[test]
    fn this_host_has_ticks() {
        let times = CpuTimes::read().expect("/proc/stat is there on Linux");
        assert!(times.total > 0 && times.idle + times.steal <= times.total, "{times:?}");
    }
}
