//! [`HostHandle`]: the way into a host of a lab.

use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use nix::sys::signalfd::SignalFd;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde_json::json;
use wavetank_plan::UserError;

use crate::exec::{self, ExecRequest, ExecRole, KILLED, command_not_found, spawn_error};
use crate::json_socket::JsonSocket;
use crate::response::system;
use crate::state::Phase;
use crate::supervisor::host_unknown;
use crate::{LabFolder, LabTag, namespaces, net, tagged_process};

/// A host of a lab that is up, by a handle on its process: what goes through it reaches that host or nothing.
#[derive(Debug)]
pub struct HostHandle {
    handle: OwnedFd,
    pid: u32,
    mark: LabTag,
    folder: LabFolder,
    host: String,
}

impl HostHandle {
    /// To `host` of the lab in `folder`.
    ///
    /// # Errors
    /// A lab that is not up, a host that it does not have, or one whose process has ended.
    pub fn to(folder: &LabFolder, host: &str) -> Result<Self, UserError> {
        let state = folder.state()?;
        let names = state.hosts.iter().map(|host| host.name.as_str());
        let found = state.hosts.iter().find(|one| one.name == host);
        if state.phase != Phase::Up {
            let message = format!("lab `{}` is not up", folder.name());
            return Err(UserError::usage("lab_not_up", message, "wavetank lab status tells how it stands"));
        }
        let found = found.ok_or_else(|| host_unknown(host, names))?;
        let handle = found.process.marked(&state.mark).ok_or_else(|| dead(folder, host))?;
        let (pid, mark) = (found.process.pid, state.mark);
        Ok(Self { handle, pid, mark, folder: folder.clone(), host: host.to_owned() })
    }

    /// The host's network namespace, for threads to enter.
    ///
    /// # Errors
    /// Where it may not be opened, or the host has ended since.
    pub fn net_namespace(&self) -> Result<OwnedFd, UserError> {
        let opened = namespaces::network_of(self.pid).map_err(|error| {
            system(&format!("the network of host {} cannot be opened", self.host), &error)
        })?;
        // While it lives, its number is nobody else's.
        if tagged_process::ended(&self.handle, Duration::ZERO) {
            return Err(dead(&self.folder, &self.host));
        }
        Ok(opened)
    }

    /// Runs `words` inside the host, with this process's input and output, and gives back its exit code; 128 and the
    /// signal's number if a signal ended it, or the host with it. What this process is sent, the command is sent; what
    /// becomes of this process, the command is not left behind.
    ///
    /// # Errors
    /// No words, rights that are missing, or no room for another process: the command has not run then. A program that is
    /// not there is told on standard error, and the exit code says so.
    pub fn run(&self, words: &[OsString]) -> Result<u8, UserError> {
        let host = &self.host;
        crate::up::privileged()?;
        if words.is_empty() {
            return Err(command_not_found(host));
        }
        let meeting = Meeting::new(&self.folder)?;
        // Before anything is started: what comes from now on is heard.
        let signals = exec::signals(None)?;
        let begun = self.command(&meeting.path, words).status();
        let begun = begun.map_err(|error| spawn_error(host, &error))?;
        if !begun.success() {
            // It has said why.
            return Ok(exec::code(begun));
        }
        let failed = |error: &std::io::Error| system("the end of the command cannot be waited for", error);
        let met = meeting.held(&self.handle, &self.mark, &signals).map_err(|error| failed(&error))?;
        match met {
            Met::Errand(mut line) => attend(&mut line, &signals).map_err(|error| failed(&error)),
            Met::Ended(code) => Ok(code),
            Met::Nobody => Err(spawn_error(host, &std::io::Error::other("it was killed at its start"))),
        }
    }

    /// A process that enters the host, and starts there what runs `words`.
    fn command(&self, socket: &Path, words: &[OsString]) -> Command {
        let mut command = Command::new("/proc/self/exe");
        command.arg0("wavetank").arg("lab-enter").arg("--mark").arg(self.mark.to_string());
        command.arg("--folder").arg(self.folder.path()).arg("--host").arg(&self.host);
        command.arg("--socket").arg(socket).arg("--").args(words);
        command
    }

    /// The calling process, which must have one thread, enters the host for good, and starts there what runs `words`.
    pub(crate) fn enter(&self, sent: &ExecRequest, words: &[OsString]) -> Result<u8, UserError> {
        let host = &self.host;
        net::join_group(&self.mark, host)?;
        // Who enters is no child of the host's process, whose limits he would have by birth.
        if let Some(found) = self.folder.order()?.lab.host(host) {
            net::apply_limits(&found.limits)?;
        }
        let here = std::env::current_dir();
        namespaces::enter(&self.handle).map_err(|errno| match errno {
            nix::errno::Errno::EPERM => crate::up::no_root(),
            _ => system(&format!("host {host} cannot be entered"), &errno),
        })?;
        // The host has the same files but for those it has its own of.
        let there = here.is_ok_and(|folder| std::env::set_current_dir(folder).is_ok());
        if !there {
            std::env::set_current_dir("/").map_err(|error| system("there is no root folder", &error))?;
        }
        let begun = ExecRole::Begin.command(sent, words).status();
        let begun = begun.map_err(|error| spawn_error(host, &error))?;
        Ok(exec::code(begun))
    }
}

fn dead(folder: &LabFolder, host: &str) -> UserError {
    let message = format!("the process of host {host} has ended");
    let hint = format!("wavetank lab down --lab {}, then up again", folder.name());
    UserError::refused("lab_host_dead", message, hint)
}

/// Time between two looks at whether an errand is still on its way, which tells nobody that it is gone.
const LOOK_AGAIN: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
/// How often in turn it is not to be found before it is gone.
const MISSED_MAX: u32 = 3;

/// What came of waiting for an errand.
enum Met {
    Errand(JsonSocket),
    /// There will be no command; the exit code.
    Ended(u8),
    /// It is gone.
    Nobody,
}

/// A socket in the lab's folder, which every host sees, where the errand meets who sent it.
struct Meeting {
    listener: UnixListener,
    path: PathBuf,
}

impl Meeting {
    fn new(folder: &LabFolder) -> Result<Self, UserError> {
        let path = folder.errand_socket(std::process::id());
        // A process of this number that was killed may have left one.
        let _ = std::fs::remove_file(&path);
        let listener = UnixListener::bind(&path)
            .map_err(|error| system(&format!("`{}` cannot be made", path.display()), &error))?;
        Ok(Self { listener, path })
    }

    /// Waits for the errand, which bears `mark`. A signal is the end of that: there is no command yet to hear it. An
    /// errand that comes too late finds nobody and does nothing; one that was just about to come is ended with its command.
    fn held(self, host: &OwnedFd, mark: &LabTag, signals: &SignalFd) -> std::io::Result<Met> {
        let mut missed = 0;
        loop {
            let mut handles = [
                PollFd::new(&self.listener, PollFlags::IN),
                PollFd::new(host, PollFlags::IN),
                PollFd::from_borrowed_fd(signals.as_fd(), PollFlags::IN),
            ];
            match poll(&mut handles, Some(&LOOK_AGAIN)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            let [called, ended, signalled] = handles.map(|handle| !handle.revents().is_empty());
            if called {
                return self.listener.accept().map(|(stream, _)| Met::Errand(JsonSocket::new(stream)));
            }
            if ended {
                return Ok(Met::Ended(KILLED));
            }
            if signalled && let Ok(Some(signal)) = signals.read_signal() {
                return Ok(Met::Ended(u8::try_from(128 + signal.ssi_signo).unwrap_or(KILLED)));
            }
            // A process that is just becoming another one has no words.
            let there = tagged_process::any_matching(mark, self.path.as_os_str().as_bytes());
            missed = if there { 0 } else { missed + 1 };
            if missed >= MISSED_MAX {
                return Ok(Met::Nobody);
            }
        }
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        // The lab may be gone with its folder.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Waits for what the errand says at its end, and hands on to the command what this process is sent.
fn attend(line: &mut JsonSocket, signals: &SignalFd) -> std::io::Result<u8> {
    loop {
        let mut handles =
            [PollFd::new(line, PollFlags::IN), PollFd::from_borrowed_fd(signals.as_fd(), PollFlags::IN)];
        match poll(&mut handles, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let said = !handles[0].revents().is_empty();
        while let Ok(Some(signal)) = signals.read_signal() {
            if exec::is_for_us(&signal) {
                // An errand that has just ended hears nothing; what it said is read next.
                let _ = line.send(&json!({ "signal": signal.ssi_signo }));
            }
        }
        if said {
            let told = line.receive().ok().flatten();
            let code = told.and_then(|told| u8::try_from(told["ended"].as_u64()?).ok());
            return Ok(code.unwrap_or(KILLED));
        }
    }
}
