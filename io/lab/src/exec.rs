//! [`ExecRole`]: a command that is run in a host for a process outside of it.
//!
//! The asker, which requests the command, has no child in the host and is in none of its groups and
//! namespaces. As the command's parent it would block the end of the host: the kernel waits until a
//! parent has reaped its children. The asker may be stopped (Ctrl-Z), or gone, which leaves the
//! children to an init process that may never reap them. Therefore the command's parent, the
//! *errand*, is a child of the host's own first process. Over a socket it reports to the asker how
//! the command ended. It forwards signals that the asker was sent, and ends the command when the
//! asker is gone.
//!
//! `lab-enter` enters the host's namespaces. Its child, inside, is `lab-errand … --begin`, which
//! starts `lab-errand` and ends, so that the host's first process adopts the latter. `lab-errand
//! --go` becomes the command.

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
use wavetank_units::{Code, UserError, sanitize};

use crate::json_socket::JsonSocket;
use crate::response::system;
use crate::service::prefer_oom_kill;
use crate::{LabTag, crash};

/// Signals that end a process. A terminal sends them to the command as well.
const ENDING: [NixSignal; 4] = [NixSignal::SIGINT, NixSignal::SIGTERM, NixSignal::SIGHUP, NixSignal::SIGQUIT];

/// Time that a command has to end by itself after the asker is gone.
const HANG_UP: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };

/// The exit code of a command that ended with its host.
pub(crate) const KILLED: u8 = 128 + 9;

/// The target of an errand, and the address of its asker.
#[derive(Clone, Debug)]
pub(crate) struct ExecRequest {
    /// The lab's tag.
    pub(crate) mark: LabTag,
    pub(crate) host: String,
    /// The socket at which the asker listens.
    pub(crate) socket: PathBuf,
}

/// The role of this process for a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExecRole {
    /// Starts the errand and ends.
    Begin,
    /// Is the errand.
    Wait,
    /// Becomes the command.
    Go,
}

impl ExecRole {
    const ALL: [Self; 3] = [Self::Begin, Self::Wait, Self::Go];

    /// The argument for the role.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Begin => "--begin",
            Self::Wait => "--wait",
            Self::Go => "--go",
        }
    }

    /// Parses the argument for a role.
    pub(crate) fn parse(word: &OsStr) -> Option<Self> {
        Self::ALL.into_iter().find(|errand| word == errand.as_str())
    }

    /// Returns the command that runs this program again in this role.
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

    /// Runs the role.
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

/// Blocks the signals that end a process, and `more`, and returns a descriptor to read them.
pub(crate) fn signals(more: Option<NixSignal>) -> Result<SignalFd, UserError> {
    let mut wanted = SigSet::empty();
    ENDING.into_iter().chain(more).for_each(|signal| wanted.add(signal));
    let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
    let read = wanted.thread_block().and_then(|()| SignalFd::with_flags(&wanted, flags));
    read.map_err(|errno| system("signals cannot be read", &errno))
}

/// Whether the signal was sent to this process alone. A terminal sends it to the whole foreground
/// group.
pub(crate) const fn is_for_us(signal: &siginfo) -> bool {
    signal.ssi_code <= 0
}

/// Returns the exit code for an exit status: 128 plus the signal's number if a signal ended the
/// process.
pub(crate) fn code(status: ExitStatus) -> u8 {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    u8::try_from(code).unwrap_or(u8::MAX)
}

fn wait(sent: &ExecRequest, words: &[OsString]) -> Result<u8, UserError> {
    crash::point("errand");
    // This comes before the start of the command, so that its end is not missed.
    let signals = signals(Some(NixSignal::SIGCHLD))?;
    // The asker may be gone already. In that case the command is not started.
    let Ok(stream) = UnixStream::connect(&sent.socket) else { return Ok(KILLED) };
    let mut asker = JsonSocket::new(stream);
    let mut child =
        ExecRole::Go.command(sent, words).spawn().map_err(|error| spawn_error(&sent.host, &error))?;
    let_go_of_streams();
    let ended = attend(&mut child, &mut asker, &signals);
    let code = ended.map_err(|error| system("cannot wait for the command to end", &error))?;
    // The asker may be gone, in which case the result is not needed.
    let _ = asker.send(&json!({ "ended": code }));
    Ok(code)
}

/// Releases input and output, so that a reader of the command's output sees its end when the
/// command ends.
fn let_go_of_streams() {
    let Ok(nothing) = File::options().read(true).write(true).open("/dev/null") else { return };
    // If this fails, the streams are held until the command has ended.
    let _ = rustix::stdio::dup2_stdin(&nothing)
        .and_then(|()| rustix::stdio::dup2_stdout(&nothing))
        .and_then(|()| rustix::stdio::dup2_stderr(&nothing));
}

/// Waits for the command's end, and forwards the asker's signals to the command.
fn attend(child: &mut Child, asker: &mut JsonSocket, signals: &SignalFd) -> std::io::Result<u8> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
    // The child has not been waited for, so its number is not reused.
    let handle = pidfd_open(pid, PidfdFlags::empty())?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(code(status));
        }
        // If two signals arrived together, the second is already in the buffer.
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
        let reported = asker.receive().ok().flatten();
        let signal = reported.and_then(|reported| i32::try_from(reported["signal"].as_i64()?).ok());
        if let Some(signal) = signal.and_then(Signal::from_named_raw) {
            // The command may just have ended.
            let _ = pidfd_send_signal(&handle, signal);
            continue;
        }
        // The asker is gone. Background processes of the command keep running.
        for signal in [Signal::HUP, Signal::CONT] {
            let _ = pidfd_send_signal(&handle, signal);
        }
        let _ = poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&HANG_UP));
        let _ = pidfd_send_signal(&handle, Signal::KILL);
        return Ok(code(child.wait()?));
    }
}

/// Turns this process into the command, with the default signal mask.
fn go(host: &str, words: &[OsString]) -> Result<u8, UserError> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|errno| system("cannot bind the command to its parent process", &errno))?;
    SigSet::all().thread_unblock().map_err(|errno| system("cannot unblock signals", &errno))?;
    let Some((program, arguments)) = words.split_first() else { return Err(command_not_found(host)) };
    prefer_oom_kill(std::process::id());
    Err(not_run(program, host, &Command::new(program).args(arguments).exec()))
}

pub(crate) fn command_not_found(host: &str) -> UserError {
    UserError::usage(
        Code::LabCommand,
        "no command is given",
        format!("wavetank lab exec {host} -- ip address"),
    )
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
        Code::LabCommand,
        message,
        format!("use `wavetank lab exec {host} -- sh -c '…'` for shell syntax"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_by_a_signal_is_reported_with_its_number() {
        let check = |raw: i32, reported: u8| assert_eq!(code(ExitStatus::from_raw(raw)), reported, "{raw}");
        check(0, 0);
        check(7 << 8, 7);
        check(2, 130);
        check(9, KILLED);
    }
}
