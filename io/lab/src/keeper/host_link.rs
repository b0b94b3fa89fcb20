//! [`HostLink`]: the keeper's end of a host.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde_json::Value;
use wavetank_plan::UserError;

use crate::answer::{self, system};
use crate::host::Deed;
use crate::line::Line;
use crate::{Bearer, LabFolder, Mark, spaces};

/// A host's process and the way to talk to it, which one at a time may use.
#[derive(Debug)]
pub(super) struct HostLink {
    pub(super) name: String,
    pub(super) process: Bearer,
    line: Mutex<Line>,
}

impl HostLink {
    /// Starts the process of the host called `name`, PID 1 of a new PID namespace. It says one line when it is born.
    pub(super) fn start(folder: &LabFolder, mark: &Mark, name: &str) -> Result<(Self, Child), UserError> {
        let failed = |error: &(dyn std::error::Error + 'static)| {
            system(&format!("host {name} cannot be started"), error)
        };
        let (ours, theirs) = UnixStream::pair().map_err(|error| failed(&error))?;
        let log = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(folder.host_folder(name).join("host.log"));
        let log = log.map_err(|error| failed(&error))?;
        let mut command = Command::new("/proc/self/exe");
        command.arg0("wavetank").arg("lab-host").arg("--mark").arg(mark.word());
        command.arg("--folder").arg(folder.path()).arg("--host").arg(name);
        // Not in a folder over which the host mounts another file system.
        command.current_dir("/");
        command.stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)));
        command.stdout(Stdio::from(log.try_clone().map_err(|error| failed(&error))?)).stderr(log);
        let child = spaces::with_own_pids(|| command.spawn())?.map_err(|error| failed(&error))?;
        // A child that has not been waited for keeps its number, even if it is dead already.
        let process = Bearer::of(child.id()).ok_or_else(|| failed(&Errno::SRCH))?;
        Ok((Self { name: name.to_owned(), process, line: Mutex::new(Line::new(ours)) }, child))
    }

    /// Has the host do something, and waits for its answer.
    pub(super) fn ask(&self, deed: &Deed) -> Result<Value, UserError> {
        let mut line = self.line();
        self.send(&mut line, deed)?;
        self.receive(&mut line)
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        // Whoever panicked in between left at worst a line that the next answer is told apart from by failing to fit.
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, line: &mut Line, deed: &Deed) -> Result<(), UserError> {
        line.send(&deed.written()).map_err(|_| self.dead())
    }

    fn receive(&self, line: &mut Line) -> Result<Value, UserError> {
        match line.receive() {
            Ok(Some(value)) => answer::read(value),
            Ok(None) | Err(_) => Err(self.dead()),
        }
    }

    fn dead(&self) -> UserError {
        let message = format!("the process of host {} has ended", self.name);
        let hint = format!(
            "wavetank lab logs {} host has its last words; then wavetank lab down, and up",
            self.name
        );
        UserError::refused("lab_host_dead", message, hint)
    }
}

/// Has all hosts do `deed` at once, or waits for the line each of them says by itself if there is none. Gives up as soon
/// as one fails, or as `up` is closed: `Err(None)`.
pub(super) fn ask_all(hosts: &[HostLink], deed: Option<&Deed>, up: &Line) -> Result<(), Option<UserError>> {
    let mut waiting: Vec<(&HostLink, MutexGuard<'_, Line>)> =
        hosts.iter().map(|host| (host, host.line())).collect();
    if let Some(deed) = deed {
        for (host, line) in &mut waiting {
            host.send(line, deed)?;
        }
    }
    while !waiting.is_empty() {
        let mut handles: Vec<PollFd<'_>> = vec![PollFd::new(up, PollFlags::IN)];
        handles.extend(waiting.iter().map(|(_, line)| PollFd::from_borrowed_fd(line.as_fd(), PollFlags::IN)));
        match poll(&mut handles, None) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(errno) => return Err(Some(system("the keeper cannot wait", &errno))),
        }
        let ready: Vec<bool> = handles.iter().map(|handle| !handle.revents().is_empty()).collect();
        if ready[0] {
            return Err(None);
        }
        for index in (0..waiting.len()).rev().filter(|index| ready[index + 1]) {
            let (host, mut line) = waiting.swap_remove(index);
            host.receive(&mut line)?;
        }
    }
    Ok(())
}

/// Has all hosts do `deed` at once, but those that are busy or dead, and waits no longer than `limit` for all together.
pub(super) fn ask_willing(hosts: &[HostLink], deed: &Deed, limit: Duration) {
    let mut waiting = Vec::new();
    for host in hosts {
        if let Ok(mut line) = host.line.try_lock()
            && host.send(&mut line, deed).is_ok()
        {
            waiting.push((host, line));
        }
    }
    let clock = wavetank_driver::Clock::starting_now();
    while !waiting.is_empty() {
        let left = limit.as_nanos() as i64 - clock.now().0;
        if left <= 0 {
            return;
        }
        let timeout = Timespec { tv_sec: left / 1_000_000_000, tv_nsec: left % 1_000_000_000 };
        let mut handles: Vec<PollFd<'_>> =
            waiting.iter().map(|(_, line)| PollFd::from_borrowed_fd(line.as_fd(), PollFlags::IN)).collect();
        if matches!(poll(&mut handles, Some(&timeout)), Err(errno) if errno != Errno::INTR) {
            return;
        }
        let ready: Vec<bool> = handles.iter().map(|handle| !handle.revents().is_empty()).collect();
        for index in (0..waiting.len()).rev().filter(|index| ready[*index]) {
            let (host, mut line) = waiting.swap_remove(index);
            // What it says does not matter any more: the next thing is its end.
            let _ = host.receive(&mut line);
        }
    }
}
