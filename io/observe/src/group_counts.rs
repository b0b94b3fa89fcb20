//! [`CgroupStats`]: CPU time and memory as counted by the control groups of a process.

use std::path::PathBuf;

use crate::{parse, read};

/// Nanoseconds per microsecond, the unit of version 2.
const NS_PER_US: u64 = 1_000;

/// Where the counts of a process's groups are. The paths are found once, so that a reading costs a
/// few small files.
#[derive(Clone, Debug, Default)]
pub(crate) struct CgroupStats {
    /// The folder of the group that counts CPU time, and whether it is of version 2.
    cpu: Option<(PathBuf, bool)>,
    memory: Option<(PathBuf, bool)>,
    /// The folder of the group with the CPU quota.
    quota: Option<PathBuf>,
}

/// Memory of a group, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct GroupMemory {
    /// Used memory without the file cache that the kernel reclaims first.
    pub(crate) used: Option<u64>,
    /// Memory of processes.
    pub(crate) rss: Option<u64>,
    pub(crate) swap: u64,
}

impl CgroupStats {
    /// Returns the groups of process `pid`. The top-level group contains everything on the machine
    /// and has no counts of its own.
    pub(crate) fn for_pid(pid: u32) -> Self {
        let cgroups = read::text(format!("/proc/{pid}/cgroup")).unwrap_or_default();
        let mounts = read::text("/proc/self/mountinfo").unwrap_or_default();
        let find = |controller: &str, files: [&str; 2]| {
            let all = parse::cgroups_of(controller, &cgroups, &mounts).into_iter();
            let own = all.filter(|group| !group.path.trim_matches('/').is_empty());
            let mut folders = own.map(|group| {
                let folder = PathBuf::from(&group.mount).join(group.path.trim_start_matches('/'));
                (folder, group.unified)
            });
            folders.find(|(folder, unified)| folder.join(files[usize::from(*unified)]).is_file())
        };
        Self {
            cpu: find("cpuacct", ["cpuacct.usage", "cpu.stat"]),
            memory: find("memory", ["memory.usage_in_bytes", "memory.current"]),
            quota: find("cpu", ["cpu.stat", "cpu.stat"]).map(|(folder, _)| folder),
        }
    }

    /// Returns user and kernel CPU time in nanoseconds.
    pub(crate) fn cpu(&self) -> Option<(u64, u64)> {
        let (folder, unified) = self.cpu.as_ref()?;
        if *unified {
            return v2_cpu(&read::text(folder.join("cpu.stat"))?);
        }
        let number = |file: &str| read::number(folder.join(file));
        let (user, system) = (number("cpuacct.usage_user"), number("cpuacct.usage_sys"));
        Some(divided(number("cpuacct.usage")?, user.zip(system)))
    }

    /// Returns the time used of each CPU, in nanoseconds. Empty if the kernel does not count it, as
    /// with version 2.
    pub(crate) fn cpu_per_process(&self) -> Vec<u64> {
        let Some((folder, false)) = &self.cpu else { return Vec::new() };
        let text = read::text(folder.join("cpuacct.usage_percpu")).unwrap_or_default();
        text.split_whitespace().map_while(|word| word.parse().ok()).collect()
    }

    /// Returns the text of `cpu.stat`, which counts how often the quota was used up, and that of
    /// the file that counts processes that were ended because memory ran out.
    pub(crate) fn quota(&self) -> Option<String> {
        let cpu = self.quota.as_ref().and_then(|folder| read::text(folder.join("cpu.stat")));
        let memory = self.memory.as_ref().and_then(|(folder, unified)| {
            read::text(folder.join(if *unified { "memory.events" } else { "memory.oom_control" }))
        });
        match (cpu, memory) {
            (None, None) => None,
            (cpu, memory) => Some(cpu.unwrap_or_default() + "\n" + &memory.unwrap_or_default()),
        }
    }

    /// Returns the memory now.
    pub(crate) fn memory(&self) -> Option<GroupMemory> {
        let (folder, unified) = self.memory.as_ref()?;
        let [used, swap] = match unified {
            true => ["memory.current", "memory.swap.current"],
            false => ["memory.usage_in_bytes", ""],
        };
        let used = read::number(folder.join(used))?;
        let stat = read::text(folder.join("memory.stat")).unwrap_or_default();
        let given_up = parse::inactive_file_bytes(&stat).unwrap_or(0);
        let swap = if *unified { read::number(folder.join(swap)) } else { field(&stat, "total_swap") };
        Some(GroupMemory {
            used: Some(used.saturating_sub(given_up)),
            rss: field(&stat, if *unified { "anon" } else { "total_rss" }),
            swap: swap.unwrap_or(0),
        })
    }
}

/// Splits `all` into user and kernel time in proportion to `(user, system)`. Version 1 counts the
/// total to the nanosecond, but derives the two parts from sampling.
fn divided(all: u64, parts: Option<(u64, u64)>) -> (u64, u64) {
    let (user, system) = parts.unwrap_or_default();
    let sum = u128::from(user) + u128::from(system);
    let in_kernel = (u128::from(all) * u128::from(system)).checked_div(sum).unwrap_or(0);
    let in_kernel = u64::try_from(in_kernel).unwrap_or(all).min(all);
    (all - in_kernel, in_kernel)
}

/// Returns `user_usec` and `system_usec` of version 2's `cpu.stat`, in nanoseconds.
fn v2_cpu(text: &str) -> Option<(u64, u64)> {
    let ns = |name: &str| field(text, name)?.checked_mul(NS_PER_US);
    ns("user_usec").zip(ns("system_usec"))
}

/// Returns the number of a line `name number`.
fn field(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    value.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "usage_usec 789\nuser_usec 700\nsystem_usec 89\ntotal_rss_huge 5\ntotal_rss 4\n";
        assert_eq!(v2_cpu(text), Some((700_000, 89_000)));
        assert_eq!(field(text, "total_rss"), Some(4));
        assert_eq!(v2_cpu("nr_periods 0\n"), None);
    }

    #[test]
    fn a_whole_is_divided_in_proportion() {
        assert_eq!(divided(1_000, Some((30, 10))), (750, 250));
        assert_eq!(divided(1_000, Some((0, 0))), (1_000, 0));
        assert_eq!(divided(u64::MAX, Some((0, u64::MAX))), (0, u64::MAX));
        assert_eq!(divided(7, None), (7, 0));
    }

    #[test]
    fn a_process_that_is_gone_counts_nothing() {
        let none = CgroupStats::for_pid(u32::MAX);
        assert_eq!((none.cpu(), none.memory(), none.cpu_per_process()), (None, None, Vec::new()));
    }
}
