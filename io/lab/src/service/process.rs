//! Processes of a service: started in their own group, listed, awaited with a time limit.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{SigSet, Signal as NixSignal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use wavetank_driver::Clock;
use wavetank_units::Nanos;

/// The environment of every service. The keeper's own is not passed on, because it is the user's
/// and may contain secrets.
const ENVIRONMENT: [(&str, &str); 3] = [
    ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
    ("HOME", "/root"),
    ("LANG", "C.UTF-8"),
];

/// How one process of a service is started.
#[derive(Clone, Debug)]
pub(super) struct Launch {
    /// Its working directory.
    pub(super) folder: PathBuf,
    /// The program's path and its arguments.
    pub(super) words: Vec<String>,
    /// Its process name, if different from the path.
    pub(super) name: Option<&'static str>,
    /// Variables in addition to [`ENVIRONMENT`].
    pub(super) environment: Vec<(String, String)>,
    /// Sockets in its folder that a killed predecessor may have left behind.
    pub(super) sockets: &'static [&'static str],
}

impl Launch {
    /// Returns the command, with empty input. The caller sets the output.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        if let Some(name) = self.name {
            command.arg0(name);
        }
        command.args(&self.words[1..]).current_dir(&self.folder).stdin(Stdio::null());
        command.env_clear().envs(ENVIRONMENT).envs(self.environment.iter().map(|(key, value)| (key, value)));
        command
    }

    /// Starts the process as the leader of a group. Everything it starts belongs to the group,
    /// unless it leaves it.
    pub(super) fn start(&self, out: Stdio, err: Stdio) -> std::io::Result<Child> {
        for socket in self.sockets {
            // A killed process left it behind, and it would block the start.
            let _ = fs::remove_file(self.folder.join(socket));
        }
        let mut command = self.command();
        command.process_group(0).stdout(out).stderr(err);
        let child = unhindered(|| command.spawn())?;
        // This includes processes it may have started meanwhile; later ones inherit the value.
        std::iter::once(child.id()).chain(members(&[child.id()])).for_each(prefer_oom_kill);
        Ok(child)
    }
}

/// Out-of-memory score adjustment of a service or a command, in thousandths of the host's memory
/// (proc(5)). Without it the kernel could select the host's own process. That one is small, but so
/// are many services, and all of them would end with it.
const FORWARD: &str = "500";

/// Makes the kernel end this process before its host when memory runs out.
pub(crate) fn prefer_oom_kill(pid: u32) {
    // The process may just have ended.
    let _ = fs::write(format!("/proc/{pid}/oom_score_adj"), FORWARD);
}

/// Runs `start` with SIGCHLD unblocked, which a host process blocks. Children inherit the mask, and
/// a program that never notices the end of its own children would misbehave.
fn unhindered<T>(start: impl FnOnce() -> T) -> T {
    let mut children = SigSet::empty();
    children.add(NixSignal::SIGCHLD);
    let kept = SigSet::thread_get_mask().is_ok_and(|mask| mask.contains(NixSignal::SIGCHLD));
    if kept {
        // A child that ends in between is not announced. The host checks for ended children after
        // every request anyway.
        let _ = children.thread_unblock();
    }
    let started = start();
    if kept {
        let _ = children.thread_block();
    }
    started
}

/// Sends `signal` to the group of `child`. The child has not been waited for, so its number is not
/// reused.
pub(super) fn signal(child: &Child, signal: Signal) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // The group may be gone.
        let _ = kill_process_group(group, signal);
    }
}

/// Waits until `child` has ended, at most until `deadline`. True if it has; it is not reaped.
pub(super) fn exits_before(child: &Child, clock: Clock, deadline: Nanos) -> bool {
    let Some(handle) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return true };
    let Ok(handle) = pidfd_open(handle, PidfdFlags::empty()) else { return true };
    loop {
        let left = Nanos((deadline.0 - clock.now().0).max(0));
        let mut handles = [PollFd::new(&handle, PollFlags::IN)];
        match poll(&mut handles, Some(&timespec(left))) {
            Ok(0) => return false,
            Ok(_) => return true,
            Err(_) if left.0 == 0 => return false,
            Err(_) => {}
        }
    }
}

/// Sleeps for some time between polls, where there is no notification.
pub(super) fn pause(time: Nanos) {
    // A signal only shortens the pause.
    let _ = poll(&mut [], Some(&timespec(time)));
}

fn timespec(time: Nanos) -> Timespec {
    Timespec { tv_sec: time.0 / 1_000_000_000, tv_nsec: time.0 % 1_000_000_000 }
}

/// Returns the processes in the groups led by `leaders`, the leaders first, without those that have
/// ended.
pub(super) fn members(leaders: &[u32]) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut found: Vec<u32> = numbers
        .filter(|pid| {
            let stat = Stat::for_pid(*pid);
            stat.is_some_and(|stat| leaders.contains(&stat.group) && !matches!(stat.state, 'Z' | 'X'))
        })
        .collect();
    found.sort_by_key(|pid| (!leaders.contains(pid), *pid));
    found
}

/// The kernel's data about a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    /// `R`, `S`, … ; `T` is stopped.
    pub(super) state: char,
    group: u32,
}

impl Stat {
    pub(super) fn for_pid(pid: u32) -> Option<Self> {
        Self::read(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Parses `PID (NAME) STATE PARENT GROUP …`, see proc(5). A name may contain anything,
    /// including brackets.
    fn read(line: &str) -> Option<Self> {
        let (_, rest) = line.rsplit_once(") ")?;
        let mut words = rest.split(' ');
        let state = words.next()?.chars().next()?;
        Some(Self { state, group: words.nth(1)?.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_line_is_read() {
        let check = |line: &str, expected: Option<Stat>| assert_eq!(Stat::read(line), expected, "{line}");
        check("7 (nginx) S 1 7 7 0 -1", Some(Stat { state: 'S', group: 7 }));
        check("8 (a) b) T 1 42 7 0 -1", Some(Stat { state: 'T', group: 42 }));
        check("", None);
        check("8 (a) T 1", None);
    }

    #[test]
    fn a_service_is_its_group() {
        let words = ["/bin/sh", "-c", "sleep 60 & wait"].map(str::to_owned).to_vec();
        let launch = Launch { folder: "/".into(), words, name: None, environment: Vec::new(), sockets: &[] };
        let clock = Clock::starting_now();
        let mut child = launch.start(Stdio::null(), Stdio::null()).expect("there is a shell");
        let two = (0..1_000).find_map(|_| {
            let found = members(&[child.id()]);
            pause(Nanos::from_millis(5));
            (found.len() == 2).then_some(found)
        });
        assert_eq!(two.map(|two| two[0]), Some(child.id()), "the shell first, then what it started");
        assert!(!exits_before(&child, clock, clock.now()), "it runs");
        signal(&child, Signal::KILL);
        assert!(exits_before(&child, clock, clock.now().after(Nanos::SECOND)), "it is dead");
        child.wait().expect("it was started here");
    }
}
