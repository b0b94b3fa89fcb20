//! Resource usage of running processes, read from `/proc`.

use std::path::PathBuf;

/// Unit of the times in `/proc/PID/stat`. The kernel reports hundredths of a second to user mode on
/// every architecture that we build for, whatever its internal tick is.
const TICKS_PER_SECOND: f64 = 100.0;

/// Returns a process and all processes that it started, itself first.
pub(crate) fn family(pid: u32) -> Vec<u32> {
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

/// Returns the time that these processes have spent on CPUs, in µs. It covers all threads that are
/// still running, including the kernel's workers for them.
pub(crate) fn cpu_us(pids: &[u32]) -> f64 {
    let of_task = |task: PathBuf| {
        let text = std::fs::read_to_string(task.join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    };
    pids.iter().flat_map(|&pid| tasks(pid)).filter_map(of_task).sum::<f64>() / 1e3
}

/// Returns the user and system time of processes so far, in seconds. It covers all their threads,
/// including ended ones and the kernel's workers for them.
pub(crate) fn cpu_s(pids: &[u32]) -> f64 {
    let of = |&pid: &u32| cpu_ticks_in(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?);
    pids.iter().filter_map(of).sum::<u64>() as f64 / TICKS_PER_SECOND
}

/// Returns the busy time of all CPUs of this machine since boot, in seconds.
pub(crate) fn machine_busy_s() -> f64 {
    let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    busy_ticks_of(&text, "cpu ").unwrap_or(0) as f64 / TICKS_PER_SECOND
}

/// Returns the busy time of one CPU, interrupts included, in seconds.
pub(crate) fn cpu_busy_s(cpu: usize) -> f64 {
    let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    busy_ticks_of(&text, &format!("cpu{cpu} ")).unwrap_or(0) as f64 / TICKS_PER_SECOND
}

/// Returns the resident user memory of processes, including mapped files, in bytes.
pub(crate) fn resident_bytes(pids: &[u32]) -> u64 {
    let of =
        |&pid: &u32| kibibytes_in(&std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?, "VmRSS:");
    pids.iter().filter_map(of).sum::<u64>()
}

/// Returns the resident anonymous memory of a process in bytes: heap and stacks, without files.
pub(crate) fn anonymous_bytes(pid: u32) -> Option<u64> {
    kibibytes_in(&std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?, "RssAnon:")
}

fn tasks(pid: u32) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/task"));
    entries.into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// Returns the bytes in a line of a status file, such as `RssAnon: 156 kB` with a tab.
fn kibibytes_in(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1_024)
}

/// Returns the sum of `utime` and `stime`, the 14th and 15th field of `/proc/PID/stat`. The second
/// field is the program's name in parentheses, which may contain spaces and parentheses.
fn cpu_ticks_in(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace().skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

/// Reads the line `cpu user nice system idle iowait irq softirq …`, without `idle` and `iowait`.
/// `name` is the first field and the space after it.
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
