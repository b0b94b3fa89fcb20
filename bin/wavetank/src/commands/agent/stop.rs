//! `wavetank agent stop`.

use std::io::Error;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use wavetank_fleet::AgentPayload;
use wavetank_link::read_hello;
use wavetank_units::{Code, Nanos, UserError};

use super::agent_lock::{AGENT_LOCK, AgentLock};
use crate::cli::AgentStopArgs;
use crate::output;

/// An agent gets this long to end, unless an option says otherwise.
const END_MAX: Nanos = Nanos::from_secs(30);

/// Ends the agent of a folder, and prints `stopped` or `not running`.
pub(super) fn stop(args: &AgentStopArgs) -> Result<(), UserError> {
    if let Some(name) = &args.name {
        check_name(&args.dir, name)?;
    }
    let ended = end_agent(&args.dir, args.wait.unwrap_or(END_MAX))?;
    output::print(if ended { "stopped\n" } else { "not running\n" })
}

/// An agent of another name belongs to another host of the fleet. One that does not answer has no
/// name.
fn check_name(folder: &Path, name: &str) -> Result<(), UserError> {
    let Ok(message) = read_hello(folder) else { return Ok(()) };
    match message.report {
        AgentPayload::Hello(hello) if hello.name != name => {
            let found = hello.name;
            let message = format!("cannot stop the agent: {} belongs to {found}", folder.display());
            Err(UserError::refused(Code::AgentNotStopped, message, "name the folder of this agent by --dir"))
        }
        _ => Ok(()),
    }
}

/// Ends the agent of `folder`. Returns false if there is none.
fn end_agent(folder: &Path, wait: Nanos) -> Result<bool, UserError> {
    end_holder(folder, AGENT_LOCK, wait).map_err(|error| {
        let message = format!("cannot stop the agent: {error}");
        UserError::refused(
            Code::AgentNotStopped,
            message,
            format!("look into {}/agent.log", folder.display()),
        )
    })
}

/// Sends SIGTERM to the process with the lock on a file in `folder`, and waits for its end. Returns
/// false if no process has the lock.
///
/// # Errors
/// If the process cannot be ended, or does not end in time.
pub(in crate::commands) fn end_holder(folder: &Path, file: &str, wait: Nanos) -> Result<bool, Error> {
    let Some(pid) = AgentLock::holder(folder, file)? else { return Ok(false) };
    let process = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(process) => process,
        Err(Errno::SRCH) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    // The handle is of the process that has the lock now, not of a later one with its number.
    if AgentLock::holder(folder, file)? != Some(pid) {
        return Ok(false);
    }
    match pidfd_send_signal(&process, Signal::TERM) {
        Ok(()) | Err(Errno::SRCH) => {}
        Err(error) => return Err(error.into()),
    }
    let limit = Timespec { tv_sec: wait.0 / 1_000_000_000, tv_nsec: wait.0 % 1_000_000_000 };
    match poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&limit))? {
        0 => Err(Error::other(format!("it has not ended within {wait}"))),
        _ => Ok(true),
    }
}
