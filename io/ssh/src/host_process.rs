//! [`HostProcess`]: the running ssh process of one host.

use std::io::{ErrorKind, Read};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStderr, ChildStdout, Command};

use wavetank_units::Nanos;

use crate::HostEnd;
use crate::lines::Lines;

/// Bytes read from a pipe at a time.
const READ_BYTES: usize = 16 << 10;
/// Reads of one pipe in a row, so that a host that writes without end does not silence the others.
const READS_MAX: usize = 16;
/// After its standard input was closed, a command has this long to end.
const GRACE: Nanos = Nanos::from_secs(2);

/// The ssh process of one host.
pub(crate) struct HostProcess {
    /// Index of the host.
    pub(crate) host: usize,
    child: Child,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    out: Lines,
    err: Lines,
    pub(crate) started: Nanos,
    /// Why it is being ended, and when it is killed.
    ending: Option<(HostEnd, Nanos)>,
}

impl HostProcess {
    /// Starts a process in a process group of its own, so that an interrupt of the terminal reaches
    /// it only through this program.
    pub(crate) fn start(host: usize, mut command: Command, now: Nanos) -> std::io::Result<Self> {
        let mut child = command.process_group(0).spawn()?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let pipes = [stdout.as_ref().map(|pipe| pipe.as_fd()), stderr.as_ref().map(|pipe| pipe.as_fd())];
        for pipe in pipes.into_iter().flatten() {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        let (out, err) = (Lines::default(), Lines::default());
        Ok(Self { host, child, stdout, stderr, out, err, started: now, ending: None })
    }

    /// Returns the pipes to wait for.
    pub(crate) fn pipes(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let stdout = self.stdout.as_ref().map(|pipe| pipe.as_fd());
        stdout.into_iter().chain(self.stderr.as_ref().map(|pipe| pipe.as_fd()))
    }

    /// Reads what is there. `line` gets each complete line and whether it is of standard error.
    pub(crate) fn read(&mut self, mut line: impl FnMut(bool, &str)) {
        if let Some(pipe) = &mut self.stdout
            && drain(pipe, &mut self.out, |text| line(false, text))
        {
            self.stdout = None;
        }
        if let Some(pipe) = &mut self.stderr
            && drain(pipe, &mut self.err, |text| line(true, text))
        {
            self.stderr = None;
        }
    }

    /// Ends the command: closes its standard input now, and kills ssh after a time of grace.
    pub(crate) fn end(&mut self, why: HostEnd, now: Nanos) {
        if self.ending.is_none() {
            drop(self.child.stdin.take());
            self.ending = Some((why, now.after(GRACE)));
        }
    }

    /// Kills ssh if its time of grace is over.
    pub(crate) fn kill_if_due(&mut self, now: Nanos) {
        if self.ending.as_ref().is_some_and(|(_, at)| *at <= now) {
            // It is a child that was not waited for, so its number belongs to no other process.
            let _ = self.child.kill();
        }
    }

    /// Returns how it ended, once it has ended and its output is read.
    pub(crate) fn ended(&mut self, mut line: impl FnMut(bool, &str)) -> Option<HostEnd> {
        let status = match self.child.try_wait() {
            Ok(Some(status)) => status,
            Ok(None) => return None,
            Err(error) => return Some(HostEnd::SshFailed(error.to_string())),
        };
        // A master connection of the user's configuration may hold the pipes open for ever, so what
        // was written before the end is read, and no more is waited for.
        self.read(&mut line);
        let why = self.ending.take().map(|(why, _)| why);
        Some(why.unwrap_or_else(|| HostEnd::of_status(status, &self.err.text())))
    }

    /// Returns standard output and standard error.
    pub(crate) fn texts(&mut self, mut line: impl FnMut(bool, &str)) -> (String, String) {
        self.out.finish(|text| line(false, text));
        self.err.finish(|text| line(true, text));
        (self.out.text(), self.err.text())
    }
}

/// Reads what a pipe has now, up to a limit. Returns whether it has ended.
fn drain(pipe: &mut impl Read, lines: &mut Lines, mut line: impl FnMut(&str)) -> bool {
    let mut bytes = [0; READ_BYTES];
    for _ in 0..READS_MAX {
        match pipe.read(&mut bytes) {
            Ok(0) => return true,
            Ok(count) => lines.add(&bytes[..count], &mut line),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return error.kind() != ErrorKind::WouldBlock,
        }
    }
    false
}
