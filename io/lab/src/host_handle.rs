//! [`HostHandle`]: enters a host of a lab.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::signalfd::SignalFd;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde_json::json;
use wavetank_units::{Code, UserError};

use crate::exec::{self, ExecRequest, ExecRole, KILLED, command_not_found, spawn_error};
use crate::host_process::HostProcess;
use crate::json_socket::JsonSocket;
use crate::response::system;
use crate::state::Phase;
use crate::supervisor::host_unknown;
use crate::{LabFolder, LabTag, namespaces, net, tagged_process};

/// A host of a running lab, as a handle on its process. Actions through the handle reach that host
/// or nothing.
#[derive(Debug)]
pub struct HostHandle {
    handle: OwnedFd,
    pid: u32,
    mark: LabTag,
    folder: LabFolder,
    host: String,
}

impl HostHandle {
    /// Returns a handle on `host` of the lab in `folder`.
    ///
    /// # Errors
    /// A lab that is not up, a host that it does not have, or a host with an ended process.
    pub fn to(folder: &LabFolder, host: &str) -> Result<Self, UserError> {
        let state = folder.state()?;
        let names = state.hosts.iter().map(|host| host.name.as_str());
        let found = state.hosts.iter().find(|one| one.name == host);
        if state.phase != Phase::Up {
            let message = format!("lab `{}` is not up", folder.name());
            return Err(UserError::usage(Code::LabNotUp, message, "check it with `wavetank lab status`"));
        }
        let found = found.ok_or_else(|| host_unknown(host, names))?;
        let handle = found.process.marked(&state.mark).ok_or_else(|| dead(folder, host))?;
        let (pid, mark) = (found.process.pid, state.mark);
        Ok(Self { handle, pid, mark, folder: folder.clone(), host: host.to_owned() })
    }

    /// Returns the host's network namespace, for threads to enter.
    ///
    /// # Errors
    /// It cannot be opened, or the host has ended since.
    pub fn net_namespace(&self) -> Result<OwnedFd, UserError> {
        let opened = namespaces::network_of(self.pid).map_err(|error| {
            system(&format!("the network of host {} cannot be opened", self.host), &error)
        })?;
        // The number is not reused while the process lives.
        if tagged_process::ended(&self.handle, Duration::ZERO) {
            return Err(dead(&self.folder, &self.host));
        }
        Ok(opened)
    }

    /// Runs the command `words` inside the host, with this process's input and output, and returns
    /// its exit code. The code is 128 plus the signal's number if a signal ended the command, or
    /// the host with it. Signals to this process are forwarded to the command. The command does not
    /// outlive this process.
    ///
    /// # Errors
    /// An empty command, missing rights, or no room for another process: the command has not run
    /// then. A missing program is reported on standard error and by the exit code.
    pub fn run(&self, words: &[OsString]) -> Result<u8, UserError> {
        let host = &self.host;
        crate::refusals::privileged()?;
        if words.is_empty() {
            return Err(command_not_found(host));
        }
        let meeting = Meeting::new(&self.folder)?;
        // Signals are blocked before anything is started, so that none is lost.
        let signals = exec::signals(None)?;
        let begun = self.command(&meeting.path, words).status();
        let begun = begun.map_err(|error| spawn_error(host, &error))?;
        if !begun.success() {
            // The first process has already reported the reason.
            return Ok(exec::code(begun));
        }
        let failed = |error: &std::io::Error| system("cannot wait for the command to end", error);
        let met = meeting.held(&self.handle, &self.mark, Some(&signals)).map_err(|error| failed(&error))?;
        match met {
            Met::Errand(mut line) => attend(&mut line, &signals).map_err(|error| failed(&error)),
            Met::Ended(code) => Ok(code),
            Met::NoClient => Err(spawn_error(host, &std::io::Error::other("it was killed at its start"))),
        }
    }

    /// Starts the command `words` inside the host, without input, and with its output appended to
    /// `log`. It runs next to this process and does not outlive it.
    ///
    /// # Errors
    /// Missing rights, no room for another process, or a host that ended.
    pub fn start(&self, words: &[OsString], log: &File) -> Result<HostProcess, UserError> {
        let host = &self.host;
        let failed = |error: std::io::Error| spawn_error(host, &error);
        crate::refusals::privileged()?;
        let meeting = Meeting::new(&self.folder)?;
        let mut command = self.command(&meeting.path, words);
        let (out, errors) = (log.try_clone().map_err(failed)?, log.try_clone().map_err(failed)?);
        let begun = command.stdin(Stdio::null()).stdout(out).stderr(errors).status().map_err(failed)?;
        let not_begun = || failed(std::io::Error::other("it ended at its start"));
        if !begun.success() {
            return Err(not_begun());
        }
        match meeting.held(&self.handle, &self.mark, None).map_err(failed)? {
            Met::Errand(line) => Ok(HostProcess::new(line)),
            Met::Ended(_) | Met::NoClient => Err(not_begun()),
        }
    }

    /// Returns the command for a process that enters the host and starts the runner of `words`
    /// there.
    fn command(&self, socket: &Path, words: &[OsString]) -> Command {
        let mut command = Command::new("/proc/self/exe");
        command.arg0("wavetank").arg("lab-enter").arg("--mark").arg(self.mark.to_string());
        command.arg("--folder").arg(self.folder.path()).arg("--host").arg(&self.host);
        command.arg("--socket").arg(socket).arg("--").args(words);
        command
    }

    /// Moves the calling process, which must have one thread, permanently into the host and starts
    /// the runner of `words` there.
    pub(crate) fn enter(&self, sent: &ExecRequest, words: &[OsString]) -> Result<u8, UserError> {
        let host = &self.host;
        net::join_group(&self.mark, host)?;
        // A process that enters the host is no child of the host's process, so it does not inherit
        // the limits.
        if let Some(found) = self.folder.order()?.lab.host(host) {
            net::apply_limits(&found.limits)?;
        }
        let here = std::env::current_dir();
        namespaces::enter(&self.handle).map_err(|errno| match errno {
            nix::errno::Errno::EPERM => crate::refusals::no_root(),
            _ => system(&format!("host {host} cannot be entered"), &errno),
        })?;
        // The host has the same files, except for its own ones.
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
    let hint = format!("run `wavetank lab down --lab {}`, then bring it up again", folder.name());
    UserError::refused(Code::LabHostDead, message, hint)
}

/// Interval of the checks whether an errand is still starting, because its end causes no
/// notification.
const LOOK_AGAIN: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
/// How often the errand must be missing in a row before it counts as gone.
const MISSED_MAX: u32 = 3;

/// The result of waiting for an errand.
enum Met {
    Errand(JsonSocket),
    /// There will be no command; contains the exit code.
    Ended(u8),
    /// The errand is gone.
    NoClient,
}

/// A socket in the lab's folder, which every host sees. The errand connects to it.
struct Meeting {
    listener: UnixListener,
    path: PathBuf,
}

impl Meeting {
    fn new(folder: &LabFolder) -> Result<Self, UserError> {
        let path = folder.errand_socket(std::process::id());
        // A killed process with the same number may have left one.
        let _ = std::fs::remove_file(&path);
        let listener = UnixListener::bind(&path)
            .map_err(|error| system(&format!("cannot create `{}`", path.display()), &error))?;
        Ok(Self { listener, path })
    }

    /// Waits for the errand of the lab `mark`. A signal ends the wait, as there is no command yet
    /// that could receive it. A late errand finds no socket and does nothing. An errand that was
    /// just about to connect is ended with its command.
    fn held(self, host: &OwnedFd, mark: &LabTag, signals: Option<&SignalFd>) -> std::io::Result<Met> {
        let mut missed = 0;
        loop {
            let mut handles =
                vec![PollFd::new(&self.listener, PollFlags::IN), PollFd::new(host, PollFlags::IN)];
            handles.extend(signals.map(|signals| PollFd::from_borrowed_fd(signals.as_fd(), PollFlags::IN)));
            match poll(&mut handles, Some(&LOOK_AGAIN)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            let [called, ended] = [0, 1].map(|index: usize| !handles[index].revents().is_empty());
            if called {
                return self.listener.accept().map(|(stream, _)| Met::Errand(JsonSocket::new(stream)));
            }
            if ended {
                return Ok(Met::Ended(KILLED));
            }
            if let Some(Ok(Some(signal))) = signals.map(SignalFd::read_signal) {
                return Ok(Met::Ended(u8::try_from(128 + signal.ssi_signo).unwrap_or(KILLED)));
            }
            // A process in the middle of an exec has no command line.
            let there = tagged_process::any_matching(mark, self.path.as_os_str().as_bytes());
            missed = if there { 0 } else { missed + 1 };
            if missed >= MISSED_MAX {
                return Ok(Met::NoClient);
            }
        }
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        // The folder may be gone with the lab.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Waits for the errand's final message, and forwards this process's signals to the command.
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
                // The errand may just have ended. Its message is read next.
                let _ = line.send(&json!({ "signal": signal.ssi_signo }));
            }
        }
        if said {
            let reported = line.receive().ok().flatten();
            let code = reported.and_then(|reported| u8::try_from(reported["ended"].as_u64()?).ok());
            return Ok(code.unwrap_or(KILLED));
        }
    }
}
