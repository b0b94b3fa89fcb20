//! Processes that can open no more files than so many (`RLIMIT_NOFILE`).

use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::io::Errno;
use rustix::process::{Pid, Resource, Rlimit, prlimit};

use super::processes::family;

/// A process under a limit, and the one it had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limited {
    pid: u32,
    /// Soft and hard; `None`: none.
    before: (Option<u64>, Option<u64>),
}

/// Lets `roots` and their children open files up to the number `limit` only; what is open stays open. The hard limit is left
/// alone: where the machine forbids raising it, it could not be given back.
pub(super) fn limit(roots: &[u32], limit: u64) -> Result<Vec<Limited>> {
    let mut limited = Vec::new();
    for pid in family(roots) {
        let Some(before) = read(pid)? else { continue };
        let soft = before.1.map_or(limit, |hard| hard.min(limit));
        if let Err(error) = set(pid, (Some(soft), before.1)) {
            // All of them or none.
            restore(&limited)?;
            return Err(error);
        }
        limited.push(Limited { pid, before });
    }
    Ok(limited)
}

/// Gives them back what they had. Those that have ended, or were started since, are left alone.
pub(super) fn restore(limited: &[Limited]) -> Result<()> {
    let mut result = Ok(());
    for own in limited {
        // Another process may have the number by now: it has the hard limit of this one only if it is like it.
        let alike = read(own.pid)?.is_some_and(|now| now.1 == own.before.1);
        if alike && let Err(error) = set(own.pid, own.before) {
            result = Err(error);
        }
    }
    result
}

/// Soft and hard limit of a process (`/proc/PID/limits`, proc(5)); `None` if there is no such process.
fn read(pid: u32) -> Result<Option<(Option<u64>, Option<u64>)>> {
    match std::fs::read_to_string(format!("/proc/{pid}/limits")) {
        Ok(text) => Ok(of_text(&text)),
        // One that ends while its limits are read tells ESRCH.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if error.raw_os_error() == Some(Errno::SRCH.raw_os_error()) => Ok(None),
        Err(error) => Err(error),
    }
}

fn of_text(text: &str) -> Option<(Option<u64>, Option<u64>)> {
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    let mut words = line.split_ascii_whitespace();
    let mut limit = || match words.next()? {
        "unlimited" => Some(None),
        number => number.parse().ok().map(Some),
    };
    Some((limit()?, limit()?))
}

fn set(pid: u32, (current, maximum): (Option<u64>, Option<u64>)) -> Result<()> {
    let Some(raw) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Ok(()) };
    match prlimit(Some(raw), Resource::Nofile, Rlimit { current, maximum }) {
        Ok(_) | Err(Errno::SRCH) => Ok(()),
        Err(Errno::PERM) => set_as_its_user(pid, (current, maximum)),
        Err(errno) => Err(errno.into()),
    }
}

/// Where root may not (a container without `CAP_SYS_RESOURCE`), the process's own user may still (prlimit(2)).
fn set_as_its_user(pid: u32, (current, maximum): (Option<u64>, Option<u64>)) -> Result<()> {
    let owner = std::fs::metadata(format!("/proc/{pid}"))?;
    let word = |limit: Option<u64>| limit.map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string());
    let status = Command::new("prlimit")
        .args(["--pid", &pid.to_string()])
        .arg(format!("--nofile={}:{}", word(current), word(maximum)))
        .uid(owner.uid())
        .gid(owner.gid())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    let refused = || Error::new(ErrorKind::PermissionDenied, "this machine does not let files be limited");
    if status.success() { Ok(()) } else { Err(refused()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_the_kernel_writes_them() {
        let text = "Limit                     Soft Limit           Hard Limit           Units     \n\
                    Max cpu time              unlimited            unlimited            seconds   \n\
                    Max open files            1024                 20000                files     \n";
        assert_eq!(of_text(text), Some((Some(1024), Some(20_000))));
        assert_eq!(of_text(&text.replace("20000", "unlimited")), Some((Some(1024), None)));
        assert_eq!(of_text("Max open files"), None);
        assert_eq!(of_text(""), None);
    }

    #[test]
    fn a_process_has_its_limit_and_gets_its_own_back() {
        let mut child = Command::new("sleep").arg("60").spawn().expect("sleep starts");
        let pid = child.id();
        let own = read(pid).expect("limits can be read").expect("it runs");
        let limited = limit(&[pid], 16).expect("it can be limited");
        assert_eq!(read(pid).expect("limits can be read"), Some((Some(16), own.1)));
        restore(&limited).expect("it gets its limit back");
        assert_eq!(read(pid).expect("limits can be read"), Some(own));
        child.kill().expect("it ends");
        child.wait().expect("it is reaped");
        restore(&limited).expect("who has ended needs nothing back");
    }
}
