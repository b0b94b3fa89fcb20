//! [`process_tree`]: the usage of a process and all its descendants.

use crate::{parse, read};

/// Maximum number of processes that are read; the others are left out.
const PROCESSES_MAX: usize = 4_096;
/// Nanoseconds per tick: `USER_HZ` is 100 on every current Linux architecture except Alpha.
const NS_PER_TICK: u64 = 10_000_000;

/// CPU time and memory of several processes together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TreeUse {
    pub(crate) cpu_user_ns: u64,
    pub(crate) cpu_system_ns: u64,
    pub(crate) rss_bytes: u64,
}

/// Returns the usage of `pid` and its descendants. An ended process is included in the usage of the
/// process that waited for it.
pub(crate) fn process_tree(pid: u32) -> TreeUse {
    let mut sum = TreeUse::default();
    for pid in descendants(pid) {
        let Some(stat) = read::text(format!("/proc/{pid}/stat")) else { continue };
        let [user, system] = cpu_ticks(&stat).unwrap_or_default();
        sum.cpu_user_ns += user * NS_PER_TICK;
        sum.cpu_system_ns += system * NS_PER_TICK;
        let status = read::text(format!("/proc/{pid}/status")).unwrap_or_default();
        sum.rss_bytes += parse::memory_bytes(&status, "VmRSS:").unwrap_or(0);
    }
    sum
}

/// Returns `pid` and the processes below it.
pub(crate) fn descendants(pid: u32) -> impl Iterator<Item = u32> {
    let (mut waiting, mut seen) = (vec![pid], 0);
    std::iter::from_fn(move || {
        let pid = waiting.pop()?;
        seen += 1;
        let room = PROCESSES_MAX.saturating_sub(seen + waiting.len());
        waiting.extend(children(pid).into_iter().take(room));
        Some(pid)
    })
}

/// Returns the child processes of all threads of `pid` that were not re-parented.
fn children(pid: u32) -> Vec<u32> {
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists = tasks.filter_map(|task| read::text(task.ok()?.path().join("children")));
    let numbers =
        |list: String| list.split_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<_>>();
    lists.flat_map(numbers).collect()
}

/// Returns user and kernel ticks from `/proc/PID/stat`, its own and those of ended children that it
/// waited for: fields 14 to 17 of proc\_pid\_stat(5). Fields are counted after the name, because
/// the name may contain anything.
fn cpu_ticks(stat: &str) -> Option<[u64; 2]> {
    let behind = stat.rsplit_once(')')?.1;
    let mut fields = behind.split_whitespace().skip(11).map(str::parse::<u64>);
    let mut next = || fields.next()?.ok();
    let (user, system) = (next()?, next()?);
    let (children_user, children_system) = (next()?, next()?);
    Some([user + children_user, system + children_system])
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn ticks_stand_behind_any_name() {
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 4194560 9 8 7 6 11 22 33 44 20 0 1 0 5 6 7";
        assert_eq!(cpu_ticks(stat), Some([44, 66]));
        assert_eq!(cpu_ticks("7 (a) S 1"), None);
    }

    #[test]
    fn children_count() {
        let mut child = Command::new("sleep").arg("60").spawn().expect("every host can sleep");
        let all = process_tree(std::process::id());
        let alone = process_tree(child.id());
        assert!(children(std::process::id()).contains(&child.id()));
        child.kill().expect("it is ours");
        child.wait().expect("it was killed");
        assert!(alone.rss_bytes > 0 && all.rss_bytes > alone.rss_bytes, "{all:?} {alone:?}");
    }
}
