//! The processes of a service, with all descendants, as the host's PID namespace numbers them.

use std::io::{Error, Result};
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// How often to look for processes that were created while the others were stopped.
const ROUNDS_MAX: usize = 16;
/// Number and interval of the checks whether a process has stopped.
const SETTLE_TRIES: usize = 200;
const SETTLE_STEP: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
/// Maximum number of processes of one service.
const PROCESSES_MAX: usize = 4_096;
/// Time limit for the end of a killed process.
const DEATH_MAX: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };

/// A process identified by a descriptor, so that a reused number is never mistaken for it.
#[derive(Debug)]
pub(super) struct PidHandle {
    pub(super) pid: u32,
    handle: OwnedFd,
}

impl PidHandle {
    /// Returns `None` if there is no such process any more.
    fn of(pid: u32) -> Result<Option<Self>> {
        let Some(raw) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Ok(None) };
        match pidfd_open(raw, PidfdFlags::empty()) {
            Ok(handle) => Ok(Some(Self { pid, handle })),
            Err(Errno::SRCH) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Sends a signal. An ended process is not an error.
    fn signal(&self, signal: Signal) -> Result<()> {
        match pidfd_send_signal(&self.handle, signal) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }
}

/// Stops `roots` and all their children and returns handles on them; on an error, none stays
/// stopped. Processes are stopped before their children are listed, so that no new child is missed.
pub(super) fn frozen(roots: &[u32]) -> Result<Vec<PidHandle>> {
    let mut held: Vec<PidHandle> = Vec::new();
    let stopped = stop_all(roots, &mut held);
    if stopped.is_err() {
        resume(&held);
    }
    stopped.map(|()| held)
}

/// Stops the processes and adds them to `held`, even if a later one fails.
fn stop_all(roots: &[u32], held: &mut Vec<PidHandle>) -> Result<()> {
    for _ in 0..ROUNDS_MAX {
        let before = held.len();
        for (pid, _) in family(roots) {
            if held.iter().any(|own| own.pid == pid) {
                continue;
            }
            if held.len() >= PROCESSES_MAX {
                return Err(Error::other(format!("the service has more than {PROCESSES_MAX} processes")));
            }
            if let Some(own) = PidHandle::of(pid)? {
                own.signal(Signal::STOP)?;
                held.push(own);
                settle(pid);
            }
        }
        if held.len() == before {
            return Ok(());
        }
    }
    Err(Error::other("the service starts processes faster than they can be stopped"))
}

/// Waits until a process with a pending stop signal has stopped. A process that waits for a disk
/// may take longer.
fn settle(pid: u32) {
    let stopped = || stat(pid).is_none_or(|(state, _)| matches!(state, b'T' | b't' | b'Z' | b'X'));
    for _ in 0..SETTLE_TRIES {
        if stopped() {
            return;
        }
        // This only waits; a signal that ends it early costs one try.
        let _ = poll(&mut [], Some(&SETTLE_STEP));
    }
}

/// Resumes the processes, children before the parents that wait for them.
pub(super) fn resume(held: &[PidHandle]) {
    for own in held.iter().rev() {
        // A process may have ended. Other errors are impossible, since an earlier signal could be
        // sent.
        let _ = own.signal(Signal::CONT);
    }
}

/// Kills `roots` and all their children, and waits until they are dead.
pub(super) fn kill(roots: &[u32]) -> Result<()> {
    // A running master process would replace the workers that are killed.
    let held = frozen(roots)?;
    if let Err(error) = held.iter().try_for_each(|own| own.signal(Signal::KILL)) {
        resume(&held);
        return Err(error);
    }
    for own in &held {
        // The signal cannot be revoked, so the kernel will complete a death that exceeds the limit.
        let _ = poll(&mut [PollFd::new(&own.handle, PollFlags::IN)], Some(&DEATH_MAX));
    }
    Ok(())
}

/// Whether one of `pids` exists, stopped or not. Dead processes that are not reaped yet do not
/// count.
pub(super) fn any_alive(pids: &[u32]) -> bool {
    pids.iter().any(|&pid| stat(pid).is_some_and(|(state, _)| !matches!(state, b'Z' | b'X')))
}

/// Returns `roots` and all their descendants, parents first, each with its parent.
pub(super) fn family(roots: &[u32]) -> Vec<(u32, u32)> {
    let numbers = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let all: Vec<(u32, u32)> = pids.filter_map(|pid| Some((pid, stat(pid)?.1))).collect();
    descending(roots, &all)
}

/// Returns those of `all` that are in `roots` or descend from one, parents first.
fn descending(roots: &[u32], all: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let own = |root: &u32| all.iter().find(|(pid, _)| pid == root).copied();
    let mut family: Vec<(u32, u32)> = roots.iter().filter_map(own).collect();
    let mut next = 0;
    // One more than the limit is collected, so that the excess is visible.
    while next < family.len() && family.len() <= PROCESSES_MAX {
        let (parent, _) = family[next];
        for child in all.iter().filter(|(_, of)| *of == parent) {
            if !family.contains(child) {
                family.push(*child);
            }
        }
        next += 1;
    }
    family
}

/// Returns state and parent of a process (`/proc/PID/stat`, proc(5)). Its name may contain blanks
/// and brackets.
fn stat(pid: u32) -> Option<(u8, u32)> {
    read_stat(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

fn read_stat(text: &str) -> Option<(u8, u32)> {
    let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    Some((state, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_family_is_known_by_parents() {
        let all = [(1, 0), (7, 1), (8, 7), (9, 8), (12, 1), (13, 12), (20, 99)];
        let check = |roots: &[u32], family: &[u32]| {
            let pids: Vec<u32> = descending(roots, &all).into_iter().map(|(pid, _)| pid).collect();
            assert_eq!(pids, family, "{roots:?}");
        };
        check(&[7], &[7, 8, 9]);
        check(&[12, 7], &[12, 7, 13, 8, 9]);
        check(&[9], &[9]);
        // A missing process has no descendants. A cycle, which no kernel reports, ends the search.
        check(&[500], &[]);
        assert_eq!(descending(&[1], &[(1, 2), (2, 1)]), [(1, 2), (2, 1)]);
    }

    #[test]
    fn the_state_is_reported_whatever_the_name() {
        let check = |text: &str, reported: Option<(u8, u32)>| assert_eq!(read_stat(text), reported, "{text}");
        check("17 (nginx: worker) S 7 7 7 0 -1", Some((b'S', 7)));
        check("17 (a) b) Z 1 7", Some((b'Z', 1)));
        check("17 (x", None);
        check("17 (x) R", None);
        check("", None);
    }

    #[test]
    fn a_process_and_its_child_stand_still_go_on_and_die() {
        let mut shell =
            std::process::Command::new("sh").args(["-c", "sleep 60 & wait"]).spawn().expect("a shell starts");
        let root = [shell.id()];
        let deadline = wavetank_driver::Clock::starting_now();
        while family(&root).len() < 2 {
            assert!(deadline.now() < wavetank_units::Nanos::from_secs(10), "the child never came");
            std::thread::yield_now();
        }
        let held = frozen(&root).expect("they can be stopped");
        assert_eq!(held.len(), 2);
        let state = |held: &PidHandle| stat(held.pid).map(|(state, _)| state);
        assert!(held.iter().all(|own| state(own) == Some(b'T')), "{held:?}");
        resume(&held);
        assert!(held.iter().all(|own| state(own) != Some(b'T')), "{held:?}");
        kill(&root).expect("they can be killed");
        assert!(!any_alive(&root));
        assert_eq!(held.iter().filter(|own| any_alive(&[own.pid])).count(), 0);
        shell.wait().expect("it is reaped");
    }
}
