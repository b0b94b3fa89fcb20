//! [`HostThread`]: keeps one host of a [`crate::StreamLink`] connected.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStderr, ChildStdout, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use wavetank_driver::Clock;
use wavetank_fleet::AgentId;
use wavetank_fleet::wire::{ControllerFrame, WireError, decode_agent, write_controller};
use wavetank_units::Nanos;

use crate::limits::AGENT_LINE_BYTES_MAX;
use crate::line_splitter::LineSplitter;
use crate::logins::Login;
use crate::stop::{Interruptible, Stop};
use crate::stream_link::{Shared, StreamEvent, StreamHost};
use crate::writer::{MESSAGE_BYTES, Outbox};

/// After a first failure the next attempt is made this much later.
const RETRY_FIRST: Duration = Duration::from_millis(250);
/// Longest time between two attempts.
const RETRY_MAX: Duration = Duration::from_secs(4);
/// An agent that sends nothing for this long after the start of the process is given up.
const GREETING_MAX: Nanos = Nanos::from_secs(45);
/// After its standard input was closed, a process has this long to end.
const GRACE: Nanos = Nanos::from_secs(2);
/// Longest wait for output. A process that has ended is noticed after it at the latest.
const TURN: Duration = Duration::from_millis(250);
/// Turns are shorter than that while a process is to end.
const ENDING_TURN: Duration = Duration::from_millis(10);
/// Bytes read from a pipe at a time.
const PIPE_READ_BYTES: usize = 16 << 10;
/// Reads of one pipe in a row.
const READS_MAX: usize = 16;
/// Lines before the first message that are ignored: startup files of shells may write some.
const FOREIGN_LINES_MAX: usize = 64;
/// Lines of standard error that are kept.
const ERROR_LINES_MAX: usize = 8;
/// Longest line of standard error that is kept in one piece, in bytes.
const ERROR_LINE_BYTES_MAX: usize = 4 << 10;

/// See the module's description.
pub(crate) struct HostThread {
    index: usize,
    host: StreamHost,
    shared: Arc<Shared>,
    clock: Clock,
}

impl HostThread {
    pub(crate) fn new(index: usize, host: StreamHost, shared: Arc<Shared>) -> Self {
        Self { index, host, shared, clock: Clock::starting_now() }
    }

    /// Connects again and again, until the link is dropped.
    pub(crate) fn run(self) {
        let shared = Arc::clone(&self.shared);
        let mut retry = RETRY_FIRST;
        while let Some(login) = shared.logins.begin(&shared.stop) {
            let (agent, reason) = self.connect(login);
            if agent.is_some() {
                retry = RETRY_FIRST;
            }
            shared.ended(self.index, agent, &reason);
            let host = self.index;
            self.push(match agent {
                Some(agent) => StreamEvent::Disconnected { agent, host, reason },
                None => StreamEvent::Unreachable { host, reason },
            });
            if shared.stop.wait(retry) {
                return;
            }
            retry = (retry * 2).min(RETRY_MAX);
        }
    }

    /// Starts a process and serves its connection until it ends. Returns why it ended.
    fn connect<'a>(&'a self, login: Login<'a>) -> (Option<AgentId>, String) {
        let mut command = (self.host.command)();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // An interrupt of the terminal is for the controller, which ends its agents in order.
        command.process_group(0);
        let program = command.get_program().to_string_lossy().into_owned();
        let child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return (None, format!("cannot start {program}: {error}")),
        };
        match Connection::open(self, child, login) {
            Ok(mut connection) => {
                let reason = connection.serve();
                let agent = connection.agent;
                (agent, connection.end(reason))
            }
            Err(error) => (None, format!("cannot read from {program}: {error}")),
        }
    }

    fn push(&self, event: StreamEvent) -> bool {
        let bytes = match &event {
            StreamEvent::Frame { frame, .. } => frame.interval.as_ref().map_or(0, String::len),
            _ => 0,
        };
        self.shared.inbox.push(event, MESSAGE_BYTES + bytes, || self.shared.stop.is_stopped())
    }
}

/// One process and its pipes.
struct Connection<'a> {
    thread: &'a HostThread,
    login: Option<Login<'a>>,
    child: Child,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    lines: LineSplitter,
    said: ErrorLines,
    /// Stops the writer.
    stop: Arc<Stop>,
    outbox: Arc<Outbox<ControllerFrame>>,
    writer: Option<JoinHandle<()>>,
    agent: Option<AgentId>,
    foreign_lines: usize,
}

impl<'a> Connection<'a> {
    fn open(thread: &'a HostThread, mut child: Child, login: Login<'a>) -> std::io::Result<Self> {
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let stdin = child.stdin.take().expect("the pipe was just requested");
        match Self::start_writer(
            thread,
            stdin,
            [stdout.as_ref().map(|pipe| pipe.as_fd()), stderr.as_ref().map(|pipe| pipe.as_fd())],
        ) {
            Ok((stop, outbox, writer)) => Ok(Self {
                thread,
                login: Some(login),
                child,
                stdout,
                stderr,
                lines: LineSplitter::new(AGENT_LINE_BYTES_MAX),
                said: ErrorLines::default(),
                stop,
                outbox,
                writer: Some(writer),
                agent: None,
                foreign_lines: 0,
            }),
            Err(error) => {
                // It is a child that was not waited for, so its number belongs to no other process.
                let _ = child.kill();
                let _ = child.wait();
                Err(error)
            }
        }
    }

    #[expect(clippy::type_complexity, reason = "the parts of a connection, used in one place")]
    fn start_writer(
        thread: &HostThread,
        stdin: std::process::ChildStdin,
        outputs: [Option<BorrowedFd<'_>>; 2],
    ) -> std::io::Result<(Arc<Stop>, Arc<Outbox<ControllerFrame>>, JoinHandle<()>)> {
        for pipe in outputs.into_iter().flatten() {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        let stop = Arc::new(Stop::new()?);
        let input = Interruptible::new(stdin, Arc::clone(&stop))?;
        let encode = |frame: &ControllerFrame, out: &mut _| {
            write_controller(&frame.message, frame.plan.as_deref(), out)
        };
        let overflowed = Arc::clone(&thread.shared.overflowed);
        let (outbox, writer) = Outbox::start(input, encode, Arc::clone(&stop), overflowed)?;
        Ok((stop, outbox, writer))
    }

    /// Passes on messages until the connection is of no use. Returns why, if it is known.
    fn serve(&mut self) -> Option<String> {
        let clock = self.thread.clock;
        let give_up_at = clock.now().after(GREETING_MAX);
        loop {
            if self.thread.shared.stop.is_stopped() {
                return Some("the link was closed".to_owned());
            }
            self.wait(TURN);
            // The end of the process is noticed before its last output is read, so none is missed.
            let has_ended = !matches!(self.child.try_wait(), Ok(None));
            self.read_stderr();
            let is_open = match self.read_stdout(if has_ended { usize::MAX } else { READS_MAX }) {
                Ok(is_open) => is_open,
                Err(reason) => return Some(reason),
            };
            if has_ended || !is_open {
                return None;
            }
            if self.agent.is_none() && clock.now() >= give_up_at {
                return Some(format!("no agent answered within {GREETING_MAX}"));
            }
        }
    }

    /// Waits for output, at most this long.
    fn wait(&self, turn: Duration) {
        let pipes = [
            self.stdout.as_ref().map(|pipe| pipe.as_fd()),
            self.stderr.as_ref().map(|pipe| pipe.as_fd()),
            Some(self.thread.shared.stop.handle()).filter(|_| self.writer.is_some()),
        ];
        let mut handles: Vec<PollFd<'_>> = pipes
            .into_iter()
            .flatten()
            .map(|handle| PollFd::from_borrowed_fd(handle, PollFlags::IN))
            .collect();
        let limit = Timespec { tv_sec: 0, tv_nsec: turn.subsec_nanos().into() };
        // A signal ends the wait early, which does no harm.
        let _ = poll(&mut handles, Some(&limit));
    }

    /// Reads what is there, up to a limit. Returns whether more may follow.
    fn read_stdout(&mut self, reads_max: usize) -> Result<bool, String> {
        let mut bytes = [0; PIPE_READ_BYTES];
        for _ in 0..reads_max {
            let Some(pipe) = &mut self.stdout else { return Ok(false) };
            match pipe.read(&mut bytes) {
                Ok(0) => return Ok(false),
                Ok(count) => {
                    self.lines.add(&bytes[..count]);
                    self.pass_on()?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
                Err(error) => return Err(format!("cannot read: {error}")),
            }
        }
        Ok(true)
    }

    fn read_stderr(&mut self) {
        let mut bytes = [0; 4 << 10];
        for _ in 0..READS_MAX {
            let Some(pipe) = &mut self.stderr else { return };
            match pipe.read(&mut bytes) {
                Ok(count) if count > 0 => self.said.add(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                _ => self.stderr = None,
            }
        }
    }

    /// Passes on the complete lines.
    fn pass_on(&mut self) -> Result<(), String> {
        loop {
            let Some(line) = self.lines.next_line().map_err(|error| error.to_string())? else {
                return Ok(());
            };
            let read = match decode_agent(line) {
                Err(WireError::Damaged(_)) if self.agent.is_none() && !line.starts_with(b"{") => {
                    self.foreign_lines += 1;
                    if self.foreign_lines > FOREIGN_LINES_MAX {
                        return Err("it writes lines that are no messages".to_owned());
                    }
                    continue;
                }
                Err(error @ WireError::Damaged(_)) => return Err(error.to_string()),
                Err(WireError::Version { found }) => Err(found),
                Ok(frame) => Ok(frame),
            };
            let agent = self.connected();
            let is_passed = self.thread.push(match read {
                Ok(frame) => StreamEvent::Frame { agent, frame },
                Err(found) => StreamEvent::OtherVersion { agent, found },
            });
            if !is_passed {
                return Err("the link was closed".to_owned());
            }
        }
    }

    /// Returns the connection's number. The first message makes it a connection.
    fn connected(&mut self) -> AgentId {
        if let Some(agent) = self.agent {
            return agent;
        }
        self.login = None;
        let host = self.thread.index;
        let agent = self.thread.shared.connected(host, &self.outbox);
        self.agent = Some(agent);
        self.thread.push(StreamEvent::Connected { agent, host });
        agent
    }

    /// Ends the process: closes its standard input, and kills it after a time of grace. Returns
    /// why the connection ended.
    fn end(mut self, reason: Option<String>) -> String {
        self.outbox.close();
        self.stop.stop();
        if let Some(writer) = self.writer.take() {
            // A thread that panicked has ended, too. Standard input is closed with it.
            let _ = writer.join();
        }
        self.stdout = None;
        let kill_at = self.thread.clock.now().after(GRACE);
        let mut is_killed = false;
        let status = loop {
            match self.child.try_wait() {
                Ok(None) => {}
                Ok(Some(status)) => break Some(status),
                Err(_) => break None,
            }
            if !is_killed && self.thread.clock.now() >= kill_at {
                // It is a child that was not waited for, so its number belongs to no other process.
                let _ = self.child.kill();
                is_killed = true;
            }
            self.wait(ENDING_TURN);
            self.read_stderr();
        };
        self.read_stderr();
        reason.unwrap_or_else(|| self.said.last().unwrap_or_else(|| ending(status)))
    }
}

/// Returns how a process without a message ended.
fn ending(status: Option<ExitStatus>) -> String {
    let code = status.and_then(|status| status.code());
    match (code, status.and_then(|status| status.signal())) {
        (Some(code), _) => format!("the process ended with exit code {code}"),
        (None, Some(signal)) => format!("signal {signal} ended the process"),
        (None, None) => "the process ended".to_owned(),
    }
}

/// The last lines of standard error.
#[derive(Debug, Default)]
struct ErrorLines {
    lines: VecDeque<String>,
    partial: Vec<u8>,
}

impl ErrorLines {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if byte == b'\n' || self.partial.len() >= ERROR_LINE_BYTES_MAX {
                self.complete();
            }
            if byte != b'\n' {
                self.partial.push(byte);
            }
        }
    }

    fn complete(&mut self) {
        let line = String::from_utf8_lossy(&self.partial).trim().to_owned();
        self.partial.clear();
        if !line.is_empty() {
            self.lines.push_back(line);
        }
        if self.lines.len() > ERROR_LINES_MAX {
            self.lines.pop_front();
        }
    }

    /// Returns the last line, but not advice, which follows the line with the reason.
    fn last(&mut self) -> Option<String> {
        self.complete();
        let lines = self.lines.iter().rev();
        lines.clone().find(|line| !line.starts_with("hint:")).or(lines.clone().next()).cloned()
    }
}
