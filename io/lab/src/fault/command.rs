//! Runs a user's command in the host's shell.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use wavetank_units::{Code, Sentence, UserError, sentence};

/// Time limit for a command. The host does nothing else meanwhile.
const TIME_MAX: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };
/// Maximum number of bytes of its output in a message.
const SAID_MAX: u64 = 2_048;

/// Runs `command` in the host's shell and waits until it has ended. Background processes that it
/// leaves continue to run.
pub(super) fn shell(host: &str, command: &str) -> Result<(), UserError> {
    let failed = |message: Sentence, said: &str| {
        let message = match said.lines().last() {
            Some(line) => sentence!("{message}: {}", line.trim()),
            None => message,
        };
        UserError::refused(
            Code::LabCommandFailed,
            message,
            format!("try it: wavetank lab exec {host} -- {command}"),
        )
    };
    let system = |error: &dyn std::fmt::Display| {
        failed(sentence!("host {host}: `{command}` cannot be run: {error}"), "")
    };
    // The output goes to a file instead of a pipe, because background processes may keep it open.
    let said = memfd_create("wavetank-said", MemfdFlags::CLOEXEC).map_err(|errno| system(&errno))?;
    let output = || said.try_clone().map(Stdio::from);
    let mut child = Command::new("/bin/sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(output().map_err(|error| system(&error))?)
        .stderr(output().map_err(|error| system(&error))?)
        .spawn()
        .map_err(|error| system(&error))?;
    if !ended(&child).map_err(|error| system(&error))? {
        // It is killed, and reaped below.
        let _ = child.kill();
        let _ = child.wait();
        return Err(failed(sentence!("host {host}: `{command}` took longer than 10 s"), &tail(said)));
    }
    let status = child.wait().map_err(|error| system(&error))?;
    if status.success() {
        return Ok(());
    }
    Err(failed(sentence!("host {host}: `{command}` ended with {status}"), &tail(said)))
}

/// Whether the command ends within its time limit.
fn ended(child: &Child) -> std::io::Result<bool> {
    let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return Ok(true) };
    // The child is not reaped yet, so its number is not reused.
    let handle = pidfd_open(pid, PidfdFlags::empty())?;
    Ok(poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&TIME_MAX))? > 0)
}

/// Returns the end of the output.
fn tail(said: OwnedFd) -> String {
    let mut file = File::from(said);
    let mut text = Vec::new();
    let length = file.metadata().map_or(0, |about| about.len());
    // Output that cannot be read is left out of the message.
    let _ = file
        .seek(SeekFrom::Start(length.saturating_sub(SAID_MAX)))
        .and_then(|_| file.take(SAID_MAX).read_to_end(&mut text));
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_known_by_its_end() {
        assert_eq!(shell("app1", "exit 0"), Ok(()));
        assert_eq!(shell("app1", "sleep 1 & echo fine"), Ok(()));
        let check = |command: &str, reported: &str| {
            let error = shell("app1", command).expect_err(command);
            assert_eq!(error.code, "lab_command_failed");
            assert!(error.message.contains(reported), "{}", error.message);
        };
        check("echo one; echo two >&2; exit 3", "exit status: 3: two");
        check("no-such-program-here", "not found");
        check("kill -9 $$", "signal: 9");
    }
}
