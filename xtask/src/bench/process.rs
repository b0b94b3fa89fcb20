//! What running processes used, read from `/proc`.

use std::path::PathBuf;

/// A process and all it started, itself first.
pub(super) fn family(pid: u32) -> Vec<u32> {
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        next += 1;
        for task in tasks(parent) {
            let children = std::fs::read_to_string(task.join("children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        }
    }
    found
}

/// Time these processes have spent on CPUs, µs: all threads that still live, the kernel's workers for them included.
pub(super) fn cpu_us(pids: &[u32]) -> f64 {
    let of_task = |task: PathBuf| {
        let text = std::fs::read_to_string(task.join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    };
    pids.iter().flat_map(|&pid| tasks(pid)).filter_map(of_task).sum::<f64>() / 1e3
}

/// Memory of its own that a process has resident, bytes: heap, stacks, nothing of files.
pub(super) fn anonymous_bytes(pid: u32) -> Option<u64> {
    anonymous_in(&std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?)
}

fn tasks(pid: u32) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/task"));
    entries.into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// The line `RssAnon: 156 kB`, with a tab.
fn anonymous_in(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read() {
        assert_eq!(anonymous_in("Name:\tcat\nRssAnon:\t     156 kB\n"), Some(159_744));
        assert_eq!(anonymous_in("Name:\tcat\n"), None);
    }

    #[test]
    fn this_process_is_of_its_family_and_has_used_something() {
        let me = std::process::id();
        assert_eq!(family(me)[0], me);
        assert!(anonymous_bytes(me).is_some_and(|bytes| bytes > 0));
        assert!(cpu_us(&[me]) >= 0.0);
    }
}
