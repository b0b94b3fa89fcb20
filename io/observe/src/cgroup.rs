//! Limits of the cgroups that this process is in, of both versions.

use std::path::{Path, PathBuf};

use crate::parse::{self, Cgroup};
use crate::read;

/// The memory that a cgroup has left.
pub(crate) struct MemoryLeft {
    /// Bytes that are left.
    pub(crate) bytes: u64,
    /// The group's limit in bytes.
    pub(crate) limit: u64,
    /// The file with the limit.
    pub(crate) file: PathBuf,
}

/// Returns the least memory left in the memory cgroups of this process; `None` without a limit.
pub(crate) fn memory_left() -> Option<MemoryLeft> {
    let left = |(group, folder): (&Cgroup, &Path)| {
        let (limit_file, used_file) = group.memory_files();
        let file = folder.join(limit_file);
        let limit = parse::cgroup_bytes(&read::text(&file)?)?;
        let used = parse::cgroup_bytes(&read::text(folder.join(used_file))?)?;
        let stat = read::text(folder.join("memory.stat"));
        let reclaimable = stat.and_then(|text| parse::inactive_file_bytes(&text)).unwrap_or(0);
        Some(MemoryLeft { bytes: limit.saturating_sub(used.saturating_sub(reclaimable)), limit, file })
    };
    least("memory", left, |left| left.bytes)
}

/// Returns how many more threads and processes the cgroups of this process allow; `None` without a
/// limit.
pub(crate) fn threads_left() -> Option<u64> {
    let left = |(_, folder): (&Cgroup, &Path)| {
        let most = read::number(folder.join("pids.max"))?;
        Some(most.saturating_sub(read::number(folder.join("pids.current"))?))
    };
    least("pids", left, |left| *left)
}

/// How often the kernel stopped the processes of a cgroup because they had used up its CPU quota.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuThrottling {
    /// The quota in CPUs.
    pub quota_cpus: f64,
    /// Periods in which the cgroup ran, since it was made.
    pub periods: u64,
    /// Periods among them in which it was stopped.
    pub throttled_periods: u64,
    /// The time for which it was stopped, in nanoseconds, added up over its CPUs.
    pub throttled_ns: u64,
}

impl CpuThrottling {
    /// Reads the counters of the cgroup that was stopped longest, of those that this process is in.
    /// `None` without a quota.
    pub fn read() -> Option<Self> {
        let throttling = |(_, folder): (&Cgroup, &Path)| {
            let text = |name: &str| read::text(folder.join(name));
            let first_version =
                || Some(format!("{} {}", text("cpu.cfs_quota_us")?, text("cpu.cfs_period_us")?));
            let quota_cpus = parse_quota(&text("cpu.max").or_else(first_version)?)?;
            let [periods, throttled_periods, throttled_ns] = parse_throttling(&text("cpu.stat")?);
            Some(Self { quota_cpus, periods, throttled_periods, throttled_ns })
        };
        least("cpu", throttling, |own| u64::MAX - own.throttled_ns)
    }

    /// Returns the counts since `before`. `None` if they belong to another cgroup.
    #[must_use]
    pub fn since(&self, before: &Self) -> Option<Self> {
        Some(Self {
            quota_cpus: self.quota_cpus,
            periods: self.periods.checked_sub(before.periods)?,
            throttled_periods: self.throttled_periods.checked_sub(before.throttled_periods)?,
            throttled_ns: self.throttled_ns.checked_sub(before.throttled_ns)?,
        })
    }
}

/// Returns the smallest value over all cgroups with `controller` and their parents, up to the mount
/// point. Inside a container the path of the group may not exist below the mount. Its parents do in
/// that case.
fn least<T>(
    controller: &str,
    left: impl Fn((&Cgroup, &Path)) -> Option<T>,
    size: impl Fn(&T) -> u64,
) -> Option<T> {
    let (cgroups, mounts) = (read::text("/proc/self/cgroup")?, read::text("/proc/self/mountinfo")?);
    let mut found: Option<T> = None;
    for group in parse::cgroups_of(controller, &cgroups, &mounts) {
        let top = PathBuf::from(&group.mount);
        let start = top.join(group.path.trim_start_matches('/'));
        for folder in start.ancestors().take_while(|folder| folder.starts_with(&top)) {
            let own = left((&group, folder));
            if let Some(own) = own.filter(|own| found.as_ref().is_none_or(|least| size(own) < size(least))) {
                found = Some(own);
            }
        }
    }
    found
}

/// Reads a CPU quota in CPUs from `QUOTA PERIOD`, as in `cpu.max`. `None`: there is no limit
/// (`max`, or -1 in version 1).
fn parse_quota(text: &str) -> Option<f64> {
    let (quota, period) = text.trim().split_once(char::is_whitespace)?;
    let (quota, period) = (quota.parse::<u64>().ok()?, period.trim().parse::<u64>().ok()?);
    (period > 0).then(|| quota as f64 / period as f64)
}

/// Reads `cpu.stat` of a cgroup of either version: periods, those in which it was stopped, and for
/// how many nanoseconds.
fn parse_throttling(text: &str) -> [u64; 3] {
    let count = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(key, _)| *key == name).and_then(|(_, count)| count.trim().parse::<u64>().ok())
    };
    let micros = count("throttled_usec").map(|micros| micros.saturating_mul(1_000));
    let ns = count("throttled_time").or(micros).unwrap_or(0);
    [count("nr_periods").unwrap_or(0), count("nr_throttled").unwrap_or(0), ns]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_and_stops_of_both_versions() {
        for (text, cpus) in
            [("20000 100000\n", Some(0.2)), ("max 100000\n", None), ("-1\n 100000\n", None), ("", None)]
        {
            assert_eq!(parse_quota(text), cpus, "{text}");
        }
        let first = "nr_periods 41\nnr_throttled 40\nthrottled_time 3200000000\n";
        assert_eq!(parse_throttling(first), [41, 40, 3_200_000_000]);
        let second = "usage_usec 5\nnr_periods 41\nnr_throttled 40\nthrottled_usec 3200000\nnr_bursts 0\n";
        assert_eq!(parse_throttling(second), [41, 40, 3_200_000_000]);
        assert_eq!(parse_throttling("usage_usec 5\n"), [0, 0, 0]);
    }
}
