//! Processes of a service: started in a group of their own, found again, waited for with a limit.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{SigSet, Signal as NixSignal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use wavetank_driver::Clock;
use wavetank_plan::Nanos;

/// What every service finds in its environment. The keeper's own is not handed on: it is the user's, with whatever
/// secrets he has in it.
const ENVIRONMENT: [(&str, &str); 3] = [
    ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
    ("HOME", "/root"),
    ("LANG", "C.UTF-8"),
];

/// How one process of a service is started.
#[derive(Clone, Debug)]
pub(super) struct Launch {
    /// Where it works.
    pub(super) folder: PathBuf,
    /// The program by its path, and its arguments.
    pub(super) words: Vec<String>,
    /// What it is called, where that is not its path.
    pub(super) name: Option<&'static str>,
    /// Beside [`ENVIRONMENT`].
    pub(super) environment: Vec<(String, String)>,
    /// Sockets in its folder that one killed before may have left behind.
    pub(super) sockets: &'static [&'static str],
}

impl Launch {
    /// As a command, with nothing to read. Where it writes is the caller's choice.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        if let Some(name) = self.name {
            command.arg0(name);
        }
        command.args(&self.words[1..]).current_dir(&self.folder).stdin(Stdio::null());
        command.env_clear().envs(ENVIRONMENT).envs(self.environment.iter().map(|(key, value)| (key, value)));
        command
    }

    /// Starts it. It leads a group, to which everything it starts belongs, unless that wants to be elsewhere.
    pub(super) fn start(&self, out: Stdio, err: Stdio) -> std::io::Result<Child> {
        for socket in self.sockets {
            // It is left behind by a process that was killed, and would be in the way.
            let _ = fs::remove_file(self.folder.join(socket));
        }
        let mut command = self.command();
        command.process_group(0).stdout(out).stderr(err);
        let child = unhindered(|| command.spawn())?;
        // What it may have started since, too: afterwards it hands it on.
        std::iter::once(child.id()).chain(members(&[child.id()])).for_each(prefer_oom_kill);
        Ok(child)
    }
}

/// How much more than by its size the kernel weighs a service or a command when it looks for a process to end for want of memory, in
/// thousandths of what the host has (proc(5)). The host's own process is small, but so are many services, and with it
/// all of them would go.
const FORWARD: &str = "500";

/// Has a process end before its host does where memory does not suffice.
pub(crate) fn prefer_oom_kill(pid: u32) {
    // One that has just ended has no weight.
    let _ = fs::write(format!("/proc/{pid}/oom_score_adj"), FORWARD);
}

/// Runs `start` with the signal let through that a host process keeps back for itself: its children inherit that, and a
/// program that never hears of its own children's end would misbehave in ways of its own.
fn unhindered<T>(start: impl FnOnce() -> T) -> T {
    let mut children = SigSet::empty();
    children.add(NixSignal::SIGCHLD);
    let kept = SigSet::thread_get_mask().is_ok_and(|mask| mask.contains(NixSignal::SIGCHLD));
    if kept {
        // What ends in between is not announced; the host looks for ended children after every deed anyway.
        let _ = children.thread_unblock();
    }
    let started = start();
    if kept {
        let _ = children.thread_block();
    }
    started
}

/// Sends `signal` to the group of `child`, which has not been waited for: its number is still its own.
pub(super) fn signal(child: &Child, signal: Signal) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // A group that is gone needs no signal.
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

/// Lets some time pass: what is waited for announces itself to nobody.
pub(super) fn pause(time: Nanos) {
    // A signal only shortens it.
    let _ = poll(&mut [], Some(&timespec(time)));
}

fn timespec(time: Nanos) -> Timespec {
    Timespec { tv_sec: time.0 / 1_000_000_000, tv_nsec: time.0 % 1_000_000_000 }
}

/// The processes that belong to the groups led by `leaders`, the leaders first, without those that have ended.
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

/// What the kernel says of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    /// `R`, `S`, … ; `T` stands still.
    pub(super) state: char,
    group: u32,
}

impl Stat {
    pub(super) fn for_pid(pid: u32) -> Option<Self> {
        Self::read(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// `PID (NAME) STATE PARENT GROUP …`, see proc(5). A name may contain anything, brackets too.
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
