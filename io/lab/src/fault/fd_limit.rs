//! Limits the number of files that processes can open (`RLIMIT_NOFILE`).

use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::io::Errno;
use rustix::process::{Pid, Resource, Rlimit, prlimit};

use super::processes::family;
use crate::TaggedProcess;

/// The current limit, and what each process has without it.
#[derive(Debug, Default)]
pub(super) struct FdLimits {
    limit: Option<u64>,
    own: Vec<Own>,
}

/// The limits that a process has without this fault. `None`: no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Own {
    process: TaggedProcess,
    soft: Option<u64>,
    hard: Option<u64>,
}

impl FdLimits {
    /// Limits the open files of `roots` and their children to `limit`, or restores their own
    /// limits. Open files stay open. The hard limit is not changed, because it could not be
    /// restored where the machine forbids raising it. Either all processes get the limit or none;
    /// ended processes are skipped.
    pub(super) fn apply_to(&mut self, roots: &[u32], limit: Option<u64>) -> Result<()> {
        if limit == self.limit {
            return Ok(());
        }
        let done = self.find(roots).and_then(|()| self.apply(limit));
        match (limit, &done) {
            // Even if one process cannot get its limit back, the others do.
            (None, _) => *self = Self::default(),
            (Some(_), Ok(())) => self.limit = limit,
            // A process that could be limited can also get its previous limit.
            (Some(_), Err(_)) => drop(self.apply(self.limit)),
        }
        done
    }

    /// Stores the own limits of processes that are not known yet.
    fn find(&mut self, roots: &[u32]) -> Result<()> {
        for (pid, parent) in family(roots) {
            let Some(process) = TaggedProcess::for_pid(pid) else { continue };
            if self.own.iter().any(|own| own.process == process) {
                continue;
            }
            let Some((soft, hard)) = read(pid)? else { continue };
            // A process that was started since inherited the limit of its parent, including our
            // changes. If the parent has ended, another process of the service is taken, because
            // all of them started alike.
            let like = |own: &&Own| (soft, hard) == own.under(self.limit);
            let of_parent = self.own.iter().filter(like).find(|own| own.process.pid == parent);
            let inherited = of_parent.or_else(|| self.own.iter().find(like)).copied();
            self.own.push(Own { process, soft: inherited.map_or(soft, |own| own.soft), hard });
        }
        Ok(())
    }

    /// Sets `limit` for as many processes as possible; returns the last error if some fail.
    fn apply(&self, limit: Option<u64>) -> Result<()> {
        let mut result = Ok(());
        for own in &self.own {
            let pid = own.process.pid;
            // The number may belong to another process by now. A process with a changed hard limit
            // was limited by some other party and is left alone.
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
    /// Returns soft and hard limit under `limit`.
    fn under(self, limit: Option<u64>) -> (Option<u64>, Option<u64>) {
        let most = |limit: u64| self.soft.map_or(limit, |soft| soft.min(limit));
        (limit.map(most).or(self.soft), self.hard)
    }
}

/// Whether one of `roots` and their children has an `io_uring`. Its sockets may not count towards
/// the file limit.
pub(super) fn any_on_io_uring(roots: &[u32]) -> bool {
    let is_ring = |entry: &std::fs::DirEntry| {
        std::fs::read_link(entry.path()).is_ok_and(|target| target.as_os_str() == "anon_inode:[io_uring]")
    };
    family(roots).iter().any(|(pid, _)| {
        // A process that has ended meanwhile has no files.
        let files = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        files.into_iter().any(|entry| is_ring(&entry))
    })
}

/// Returns soft and hard limit of a process (`/proc/PID/limits`, proc(5)); `None` if there is no
/// such process.
fn read(pid: u32) -> Result<Option<(Option<u64>, Option<u64>)>> {
    match std::fs::read_to_string(format!("/proc/{pid}/limits")) {
        Ok(text) => Ok(of_text(&text)),
        // A process that ends while its limits are read results in ESRCH.
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

/// Sets the limits as the process's own user, which is permitted even if root is not (prlimit(2)).
/// That is the case in a container without `CAP_SYS_RESOURCE`.
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
    let refused = || Error::new(ErrorKind::PermissionDenied, "this machine does not permit a file limit");
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
            assert!(clock.now() < wavetank_units::Nanos::from_secs(10), "the child never came");
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
        let mut reported = String::new();
        let mut said = std::io::BufReader::new(shell.stdout.take().expect("a pipe"));
        std::io::BufRead::read_line(&mut said, &mut reported).expect("it is text");
        let roots = [shell.id(), reported.trim().parse().expect("a number")];
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
