//! [`CpuTimes`]: how much of the machine other programs use while a test runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// In fewer ticks, one tick more or less decides.
const TICKS_MIN: u64 = 20;

/// CPU times since the machine was started, in clock ticks of all CPUs.
#[derive(Clone, Copy, Debug)]
pub struct CpuTimes {
    /// All time, with that of idle CPUs and that taken by a hypervisor.
    all: u64,
    /// Time of idle CPUs.
    idle: u64,
    /// Time taken by a hypervisor.
    stolen: u64,
    /// Time that this process, its children and theirs have used.
    own: u64,
}

impl CpuTimes {
    /// Reads the times; `None` where the kernel has no `/proc`.
    pub fn now() -> Option<Self> {
        let [all, idle, stolen] = machine_ticks(&fs::read_to_string("/proc/stat").ok()?)?;
        Some(Self { all, idle, stolen, own: own_ticks() })
    }

    /// Returns the share of the machine's CPU time that others have used since `earlier`. It is 0
    /// for an instant, since the kernel counts ticks of 10 ms.
    pub fn foreign_share_since(self, earlier: Self) -> f64 {
        let all = self.all.saturating_sub(earlier.all);
        if all < TICKS_MIN {
            return 0.0;
        }
        let unused = self.idle.saturating_sub(earlier.idle) + self.own.saturating_sub(earlier.own);
        all.saturating_sub(unused) as f64 / all as f64
    }

    /// Returns the share of the machine's CPU time that a hypervisor took since `earlier`.
    pub fn stolen_share_since(self, earlier: Self) -> f64 {
        let all = self.all.saturating_sub(earlier.all).max(1);
        self.stolen.saturating_sub(earlier.stolen) as f64 / all as f64
    }
}

/// All ticks, idle ticks and stolen ticks of the line `cpu` of `/proc/stat` (proc(5)).
fn machine_ticks(stat: &str) -> Option<[u64; 3]> {
    let fields = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = fields.split_whitespace().filter_map(|field| field.parse().ok()).collect();
    // Guest time is part of user time already.
    Some([ticks.iter().take(8).sum(), ticks.get(3)? + ticks.get(4)?, *ticks.get(7)?])
}

/// Ticks of this process and all below it, with those of children that have ended.
fn own_ticks() -> u64 {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let stats = entries.filter_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        Some((pid, parent_and_ticks(&fs::read_to_string(entry.path().join("stat")).ok()?)?))
    });
    let processes: BTreeMap<u32, (u32, u64)> = stats.collect();
    let mut ours = BTreeSet::from([std::process::id()]);
    loop {
        let known = ours.len();
        ours.extend(
            processes
                .iter()
                .filter(|(_, (parent, _))| ours.contains(parent))
                .map(|(pid, _)| *pid)
                .collect::<Vec<_>>(),
        );
        if ours.len() == known {
            return ours.iter().filter_map(|pid| processes.get(pid)).map(|(_, ticks)| ticks).sum();
        }
    }
}

/// The parent of a process, and its ticks, by its `/proc/PID/stat` (proc(5)). Its name may contain
/// anything, also spaces and parentheses.
fn parent_and_ticks(stat: &str) -> Option<(u32, u64)> {
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    // The first field here is the third of the page.
    let ticks = fields.get(11..15)?.iter().filter_map(|field| field.parse::<u64>().ok()).sum();
    Some((fields.get(1)?.parse().ok()?, ticks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_others() {
        let check = |later: (u64, u64, u64), expected: f64| {
            let at = |(all, idle, own)| CpuTimes { all, idle, stolen: 0, own };
            let share = at(later).foreign_share_since(at((1_000, 500, 100)));
            assert!((share - expected).abs() < 1e-9, "{later:?}: {share}");
        };
        check((1_200, 700, 100), 0.0);
        check((1_200, 500, 300), 0.0);
        check((1_200, 550, 150), 0.5);
        check((1_200, 500, 100), 1.0);
        // A child that was handed to another parent takes its past with it.
        check((1_200, 600, 50), 0.5);
        check((1_010, 500, 100), 0.0);
    }

    #[test]
    fn lines_of_the_kernel_are_read() {
        let stat = "cpu  10 20 30 400 50 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        assert_eq!(machine_ticks(stat), Some([531, 450, 8]));
        let line = "7 (a) b (c) S 3 7 7 0 -1 4194560 1 2 3 4 11 12 13 14 20 0 1 0 5 6 7";
        assert_eq!(parent_and_ticks(line), Some((3, 50)));
        assert_eq!(parent_and_ticks("7 (a"), None);
    }

    #[test]
    fn own_work_is_counted_as_own() {
        let before = CpuTimes::now().expect("Linux has it");
        while own_ticks() < before.own + 5 {
            std::hint::black_box((0..10_000_u64).sum::<u64>());
        }
        let after = CpuTimes::now().expect("Linux has it");
        assert!(after.own >= before.own + 5 && after.all >= before.all);
    }
}
