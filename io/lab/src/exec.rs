//! [`ExecRole`]: a command that is run in a host for somebody outside of it.
//!
//! Who asks has no child in the host and is in none of its groups and namespaces: were he the command's parent, the
//! kernel could not end the host's processes before he had waited for their deaths, and he may stand still (Ctrl-Z) or
//! be gone, which leaves them to a first process of the machine that waits for nobody. So the command's parent, the
//! *errand*, is a child of the host's own first process. It tells the asker over a socket how the command ended, hands
//! on signals that he was sent, and ends the command when he is gone.
//!
//! `lab-enter` enters the host's namespaces; its child, inside, is `lab-errand … --begin`, which starts `lab-errand` and
//! ends, so that the host's first process adopts that. `lab-errand --go` becomes the command.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::ErrorKind;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};

use nix::sys::signal::{SigSet, Signal as NixSignal};
use nix::sys::signalfd::{SfdFlags, SignalFd, siginfo};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal, set_parent_process_death_signal,
};
use serde_json::json;
use wavetank_plan::{UserError, sanitize};

use crate::json_socket::JsonSocket;
use crate::response::system;
use crate::service::prefer_oom_kill;
use crate::{LabTag, crash};

/// What a process is sent to end it. A terminal sends them to the command as well.
const ENDING: [NixSignal; 4] = [NixSignal::SIGINT, NixSignal::SIGTERM, NixSignal::SIGHUP, NixSignal::SIGQUIT];

/// Time that a command has to end by itself when nobody waits for it any more.
const HANG_UP: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };

/// The exit code of a command that went with its host.
pub(crate) const KILLED: u8 = 128 + 9;

/// Who sent an errand, and where to.
#[derive(Clone, Debug)]
pub(crate) struct ExecRequest {
    /// The lab's.
    pub(crate) mark: LabTag,
    pub(crate) host: String,
    /// Where the asker listens.
    pub(crate) socket: PathBuf,
}

/// What this process is for a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExecRole {
    /// It starts the errand, and ends.
    Begin,
    /// It is the errand.
    Wait,
    /// It becomes the command.
    Go,
}

impl ExecRole {
    const ALL: [Self; 3] = [Self::Begin, Self::Wait, Self::Go];

    /// The word for it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Begin => "--begin",
            Self::Wait => "--wait",
            Self::Go => "--go",
        }
    }

    /// Which one a word means.
    pub(crate) fn parse(word: &OsStr) -> Option<Self> {
        Self::ALL.into_iter().find(|errand| word == errand.as_str())
    }

    /// This program again, as `self`, for a command.
    pub(crate) fn command(self, sent: &ExecRequest, words: &[OsString]) -> Command {
        let mut command = Command::new("/proc/self/exe");
        command
            .arg0("wavetank")
            .arg("lab-errand")
            .arg("--mark")
            .arg(sent.mark.to_string())
            .arg(self.as_str());
        command.arg("--host").arg(&sent.host).arg("--socket").arg(&sent.socket).arg("--").args(words);
        command
    }

    /// Does it.
    pub(crate) fn run(self, sent: &ExecRequest, words: &[OsString]) -> Result<u8, UserError> {
        match self {
            Self::Begin => {
                Self::Wait.command(sent, words).spawn().map_err(|error| spawn_error(&sent.host, &error))?;
                Ok(0)
            }
            Self::Wait => wait(sent, words),
            Self::Go => go(&sent.host, words),
        }
    }
}

/// Signals that end a process, and `more`, to be read from now on instead of obeyed.
pub(crate) fn signals(more: Option<NixSignal>) -> Result<SignalFd, UserError> {
    let mut wanted = SigSet::empty();
    ENDING.into_iter().chain(more).for_each(|signal| wanted.add(signal));
    let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
    let read = wanted.thread_block().and_then(|()| SignalFd::with_flags(&wanted, flags));
    read.map_err(|errno| system("signals cannot be read", &errno))
}

/// Whether it was sent to this process alone; a terminal sends it to everybody in front of it.
pub(crate) const fn is_for_us(signal: &siginfo) -> bool {
    signal.ssi_code <= 0
}

/// The exit code that stands for an end; 128 and the signal's number if a signal ended it.
pub(crate) fn code(status: ExitStatus) -> u8 {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    u8::try_from(code).unwrap_or(u8::MAX)
}

fn wait(sent: &ExecRequest, words: &[OsString]) -> Result<u8, UserError> {
    crash::point("errand");
    // Before the command is started: its end must not be missed.
    let signals = signals(Some(NixSignal::SIGCHLD))?;
    // Who asked may be gone already, and then nothing is to be done.
    let Ok(stream) = UnixStream::connect(&sent.socket) else { return Ok(KILLED) };
    let mut asker = JsonSocket::new(stream);
    let mut child =
        ExecRole::Go.command(sent, words).spawn().map_err(|error| spawn_error(&sent.host, &error))?;
    let_go_of_streams();
    let ended = attend(&mut child, &mut asker, &signals);
    let code = ended.map_err(|error| system("the end of the command cannot be waited for", &error))?;
    // Nobody to be told is as good as told.
    let _ = asker.send(&json!({ "ended": code }));
    Ok(code)
}

/// Input and output are the command's: whoever reads them waits for its end alone.
fn let_go_of_streams() {
    let Ok(nothing) = File::options().read(true).write(true).open("/dev/null") else { return };
    // Where that does not work they are held until the command has ended.
    let _ = rustix::stdio::dup2_stdin(&nothing)
        .and_then(|()| rustix::stdio::dup2_stdout(&nothing))
        .and_then(|()| rustix::stdio::dup2_stderr(&nothing));
}

/// Waits for the command's end, and tells it what the asker was told.
fn attend(child: &mut Child, asker: &mut JsonSocket, signals: &SignalFd) -> std::io::Result<u8> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
    // It has not been waited for, so that the number is its own.
    let handle = pidfd_open(pid, PidfdFlags::empty())?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(code(status));
        }
        // Of two signals that came together the second is here already.
        let more = asker.has_line();
        let mut handles =
            [PollFd::new(asker, PollFlags::IN), PollFd::from_borrowed_fd(signals.as_fd(), PollFlags::IN)];
        match poll(&mut handles, more.then_some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let said = more || !handles[0].revents().is_empty();
        while let Ok(Some(_)) = signals.read_signal() {}
        if !said {
            continue;
        }
        let told = asker.receive().ok().flatten();
        let signal = told.and_then(|told| i32::try_from(told["signal"].as_i64()?).ok());
        if let Some(signal) = signal.and_then(Signal::from_named_raw) {
            // One that has just ended hears nothing.
            let _ = pidfd_send_signal(&handle, signal);
            continue;
        }
        // The asker is gone. What the command leaves in the background is left there.
        for signal in [Signal::HUP, Signal::CONT] {
            let _ = pidfd_send_signal(&handle, signal);
        }
        let _ = poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&HANG_UP));
        let _ = pidfd_send_signal(&handle, Signal::KILL);
        return Ok(code(child.wait()?));
    }
}

/// This process becomes the command, with signals as any process has them.
fn go(host: &str, words: &[OsString]) -> Result<u8, UserError> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|errno| system("the command cannot be bound to who waits for it", &errno))?;
    SigSet::all().thread_unblock().map_err(|errno| system("signals cannot be let through", &errno))?;
    let Some((program, arguments)) = words.split_first() else { return Err(command_not_found(host)) };
    prefer_oom_kill(std::process::id());
    Err(not_run(program, host, &Command::new(program).args(arguments).exec()))
}

pub(crate) fn command_not_found(host: &str) -> UserError {
    UserError::usage("lab_command", "there is no command", format!("wavetank lab exec {host} -- ip address"))
}

pub(crate) fn spawn_error(host: &str, error: &std::io::Error) -> UserError {
    system(&format!("no process can be started in host {host}"), error)
}

fn not_run(program: &OsStr, host: &str, error: &std::io::Error) -> UserError {
    let shown = program.to_string_lossy();
    let message = match error.kind() {
        ErrorKind::NotFound => format!("there is no program `{}` in host {host}", sanitize(&shown)),
        _ => format!("`{}` cannot be run in host {host}: {error}", sanitize(&shown)),
    };
    UserError::usage(
        "lab_command",
        message,
        format!("wavetank lab exec {host} -- sh -c '…' for words of a shell"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_by_a_signal_is_told_by_its_number() {
        let check = |raw: i32, told: u8| assert_eq!(code(ExitStatus::from_raw(raw)), told, "{raw}");
        check(0, 0);
        check(7 << 8, 7);
        check(2, 130);
        check(9, KILLED);
    }
}
