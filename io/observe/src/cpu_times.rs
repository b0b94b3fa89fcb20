//! [`CpuTimes`]: how the host's CPUs spent their time, from `/proc/stat`.

use crate::{parse, read};

/// Ticks of one CPU in a second: what the kernel tells is in units of `USER_HZ`, which is 100 on every architecture that
/// Linux has today but Alpha.
const TICKS_PER_SECOND: f64 = 100.0;

/// Ticks of all CPUs together since boot. Read it before and after a run; the shares speak of the time between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// Every tick, whatever it was spent on.
    pub total: u64,
    /// Ticks with nothing to do, waiting for disks included.
    pub idle: u64,
    /// Ticks that another guest of the same machine had while this one wanted to run.
    pub steal: u64,
}

impl CpuTimes {
    /// Reads them now; nothing where `/proc/stat` cannot be read.
    pub fn read() -> Option<Self> {
        parse::cpu_times(&read::text("/proc/stat")?)
    }

    /// CPU time that was spent on anything since `before`, all CPUs together, in seconds.
    pub fn busy_s_since(&self, before: &Self) -> f64 {
        let busy = |times: &Self| times.total.saturating_sub(times.idle + times.steal);
        busy(self).saturating_sub(busy(before)) as f64 / TICKS_PER_SECOND
    }

    /// Share of the time since `before` that was stolen, 0 to 1.
    pub fn steal_share_since(&self, before: &Self) -> f64 {
        share(self.steal, before.steal, self, before)
    }
}

/// 0 where no tick passed: nothing is known to have been stolen then.
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
        assert!((after.busy_s_since(&before) - 0.9).abs() < 1e-12, "90 ticks were neither idle nor stolen");
    }

    #[test]
    fn this_host_has_ticks() {
        let times = CpuTimes::read().expect("/proc/stat is there on Linux");
        assert!(times.total > 0 && times.idle + times.steal <= times.total, "{times:?}");
    }
}
