//! Processes that can open no more files than so many (`RLIMIT_NOFILE`).

use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::io::Errno;
use rustix::process::{Pid, Resource, Rlimit, prlimit};

use super::processes::family;
use crate::TaggedProcess;

/// The limit that processes are under, and what each of them has without it.
#[derive(Debug, Default)]
pub(super) struct FdLimits {
    limit: Option<u64>,
    own: Vec<Own>,
}

/// What a process has if nobody limits it. `None`: no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Own {
    process: TaggedProcess,
    soft: Option<u64>,
    hard: Option<u64>,
}

impl FdLimits {
    /// Lets `roots` and their children open files up to the number `limit` only, or as many as they could before; what is
    /// open stays open. The hard limit is left alone: where the machine forbids raising it, it could not be given back.
    /// All of them come under a limit or none; those that have ended are left alone.
    pub(super) fn apply_to(&mut self, roots: &[u32], limit: Option<u64>) -> Result<()> {
        if limit == self.limit {
            return Ok(());
        }
        let done = self.find(roots).and_then(|()| self.apply(limit));
        match (limit, &done) {
            // What cannot be given back to one is given back to the others all the same.
            (None, _) => *self = Self::default(),
            (Some(_), Ok(())) => self.limit = limit,
            // Who could be limited could have its limit before.
            (Some(_), Err(_)) => drop(self.apply(self.limit)),
        }
        done
    }

    /// Takes note of what those have that are not known yet.
    fn find(&mut self, roots: &[u32]) -> Result<()> {
        for (pid, parent) in family(roots) {
            let Some(process) = TaggedProcess::for_pid(pid) else { continue };
            if self.own.iter().any(|own| own.process == process) {
                continue;
            }
            let Some((soft, hard)) = read(pid)? else { continue };
            // One that was started since has its limit from its parent, with all that was done to that; from whom if that
            // has ended is not known, but all of a service began alike.
            let like = |own: &&Own| (soft, hard) == own.under(self.limit);
            let of_parent = self.own.iter().filter(like).find(|own| own.process.pid == parent);
            let inherited = of_parent.or_else(|| self.own.iter().find(like)).copied();
            self.own.push(Own { process, soft: inherited.map_or(soft, |own| own.soft), hard });
        }
        Ok(())
    }

    /// As many of them as possible come under `limit`; the last error if some do not.
    fn apply(&self, limit: Option<u64>) -> Result<()> {
        let mut result = Ok(());
        for own in &self.own {
            let pid = own.process.pid;
            // Another process may have the number by now, and one that was given another hard limit has its own reasons.
            let same = TaggedProcess::for_pid(pid) == Some(own.process);
            let alike = same && read(pid)?.is_some_and(|now| now.1 == own.hard);
            if alike && let Err(error) = set(pid, own.under(limit)) {
                result = Err(error);
            }
        }
        result
    }
}

impl Own {
    /// Soft and hard limit under `limit`.
    fn under(self, limit: Option<u64>) -> (Option<u64>, Option<u64>) {
        let most = |limit: u64| self.soft.map_or(limit, |soft| soft.min(limit));
        (limit.map(most).or(self.soft), self.hard)
    }
}

/// Whether one of `roots` and their children has an `io_uring`: its sockets may be none of the files that a limit counts.
pub(super) fn any_on_io_uring(roots: &[u32]) -> bool {
    let is_ring = |entry: &std::fs::DirEntry| {
        std::fs::read_link(entry.path()).is_ok_and(|target| target.as_os_str() == "anon_inode:[io_uring]")
    };
    family(roots).iter().any(|(pid, _)| {
        // Who has ended meanwhile has none.
        let files = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        files.into_iter().any(|entry| is_ring(&entry))
    })
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
        let mut limits = FdLimits::default();
        let mut check = |limit: Option<u64>, soft: Option<u64>| {
            limits.apply_to(&[pid], limit).expect("it can be limited");
            assert_eq!(read(pid).expect("limits can be read"), Some((soft, own.1)), "{limit:?}");
        };
        check(Some(16), Some(16));
        check(Some(12), Some(12));
        check(Some(16), Some(16));
        check(None, own.0);
        check(Some(16), Some(16));
        child.kill().expect("it ends");
        child.wait().expect("it is reaped");
        limits.apply_to(&[pid], None).expect("who has ended needs nothing back");
    }

    #[test]
    fn who_is_started_under_a_limit_loses_it_too() {
        let mut shell = Command::new("sh")
            .args(["-c", "read word; sleep 60 & wait"])
            .stdin(Stdio::piped())
            .spawn()
            .expect("a shell starts");
        let roots = [shell.id()];
        let own = read(shell.id()).expect("limits can be read").expect("it runs");
        let mut limits = FdLimits::default();
        limits.apply_to(&roots, Some(16)).expect("it can be limited");
        drop(shell.stdin.take());
        let clock = wavetank_driver::Clock::starting_now();
        while family(&roots).len() < 2 {
            assert!(clock.now() < wavetank_plan::Nanos::from_secs(10), "the child never came");
            std::thread::yield_now();
        }
        let check = |expected: Option<u64>| {
            for (pid, _) in family(&roots) {
                assert_eq!(read(pid).expect("limits can be read"), Some((expected, own.1)), "{pid}");
            }
        };
        check(Some(16));
        limits.apply_to(&roots, Some(18)).expect("it can be limited");
        check(Some(18));
        limits.apply_to(&roots, None).expect("they get their limits back");
        check(own.0);
        super::super::processes::kill(&roots).expect("they can be killed");
        shell.wait().expect("it is reaped");
    }

    #[test]
    fn who_lost_its_parent_under_a_limit_loses_it_too() {
        let mut shell = Command::new("sh")
            .args(["-c", "read word; (sleep 60 & echo $!); read word"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell starts");
        let own = read(shell.id()).expect("limits can be read").expect("it runs");
        let mut limits = FdLimits::default();
        limits.apply_to(&[shell.id()], Some(16)).expect("it can be limited");
        std::io::Write::write_all(shell.stdin.as_mut().expect("a pipe"), b"\n").expect("it listens");
        let mut told = String::new();
        let mut said = std::io::BufReader::new(shell.stdout.take().expect("a pipe"));
        std::io::BufRead::read_line(&mut said, &mut told).expect("it is text");
        let roots = [shell.id(), told.trim().parse().expect("a number")];
        for (limit, soft) in [(Some(18), Some(18)), (None, own.0)] {
            limits.apply_to(&roots, limit).expect("they can be limited");
            for pid in roots {
                assert_eq!(read(pid).expect("limits can be read"), Some((soft, own.1)), "{pid}");
            }
        }
        super::super::processes::kill(&roots).expect("they can be killed");
        shell.wait().expect("it is reaped");
    }
}
