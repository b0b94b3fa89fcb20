//! What running processes used, read from `/proc`.

use std::path::PathBuf;

/// What `/proc/PID/stat` counts time in: the kernel tells user mode hundredths of a second on every architecture that
/// we build for, whatever its own ticks are.
const TICKS_PER_SECOND: f64 = 100.0;

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

/// User and system time that processes have used so far, all their threads together, those that ended too: seconds.
/// The kernel's workers for them are their threads.
pub(super) fn cpu_s(pids: &[u32]) -> f64 {
    let of = |&pid: &u32| cpu_ticks_in(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?);
    pids.iter().filter_map(of).sum::<u64>() as f64 / TICKS_PER_SECOND
}

/// Time that this machine's CPUs have worked since it began, all together: seconds.
pub(super) fn machine_busy_s() -> f64 {
    let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    busy_ticks_of(&text, "cpu ").unwrap_or(0) as f64 / TICKS_PER_SECOND
}

/// Time that one of them has worked: seconds, interrupts included.
pub(super) fn cpu_busy_s(cpu: usize) -> f64 {
    let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    busy_ticks_of(&text, &format!("cpu{cpu} ")).unwrap_or(0) as f64 / TICKS_PER_SECOND
}

/// All memory of user mode that processes have resident, files mapped included: bytes.
pub(super) fn resident_bytes(pids: &[u32]) -> u64 {
    let of =
        |&pid: &u32| kibibytes_in(&std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?, "VmRSS:");
    pids.iter().filter_map(of).sum::<u64>()
}

/// Memory of its own that a process has resident, bytes: heap, stacks, nothing of files.
pub(super) fn anonymous_bytes(pid: u32) -> Option<u64> {
    kibibytes_in(&std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?, "RssAnon:")
}

fn tasks(pid: u32) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/task"));
    entries.into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// Bytes told by a line of a status, as `RssAnon: 156 kB` with a tab.
fn kibibytes_in(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1_024)
}

/// The fields `utime` and `stime` of `/proc/PID/stat`, the 14th and 15th: the second is the program's name in brackets,
/// which may hold blanks and brackets itself.
fn cpu_ticks_in(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace().skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

/// The line `cpu user nice system idle iowait irq softirq …`, without the fourth and the fifth; `name` is its first word
/// and the blank behind it.
fn busy_ticks_of(stat: &str, name: &str) -> Option<u64> {
    let line = stat.lines().find_map(|line| line.strip_prefix(name))?;
    let ticks: Vec<u64> = line.split_whitespace().take(7).map_while(|field| field.parse().ok()).collect();
    let [user, nice, system, _, _, irq, softirq] = ticks[..] else { return None };
    Some(user + nice + system + irq + softirq)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read() {
        let check = |status, expected| assert_eq!(kibibytes_in(status, "RssAnon:"), expected, "{status}");
        check("Name:\tcat\nRssAnon:\t     156 kB\n", Some(159_744));
        check("Name:\tcat\n", None);
    }

    #[test]
    fn ticks_are_read_behind_any_name() {
        let check = |stat, expected| assert_eq!(cpu_ticks_in(stat), expected, "{stat}");
        check("7 (a) b (c)) S 1 7 7 0 -1 4194560 250 0 0 0 31 12 0 0 20 0 1 0 5", Some(43));
        check("7 (cat) S 1 7", None);
        check("", None);
        let stat = "cpu  1 2 4 100 200 8 16 32 0 0\ncpu0 1 2 4 100 200 8 0 0 0 0\ncpu10 1 2\n";
        assert_eq!(busy_ticks_of(stat, "cpu "), Some(31));
        assert_eq!(busy_ticks_of(stat, "cpu0 "), Some(15));
        assert_eq!((busy_ticks_of(stat, "cpu1 "), busy_ticks_of(stat, "cpu10 ")), (None, None));
    }

    #[test]
    fn this_process_is_of_its_family_and_has_used_something() {
        let me = std::process::id();
        assert_eq!(family(me)[0], me);
        assert!(anonymous_bytes(me).is_some_and(|bytes| bytes > 0));
        assert!(cpu_us(&[me]) >= 0.0 && cpu_s(&[me]) >= 0.0);
        assert!(resident_bytes(&[me]) >= anonymous_bytes(me).unwrap_or(0));
    }
}
