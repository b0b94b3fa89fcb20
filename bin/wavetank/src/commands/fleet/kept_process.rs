//! [`KeptProcess`]: a process that is started again when it ends.

use std::io::{ErrorKind, Read};
use std::os::fd::AsFd;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};

use rustix::event::{PollFd, PollFlags};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use wavetank_units::Nanos;

/// The first wait before a process is started again. Each further one is twice as long.
const WAIT_MIN: Nanos = Nanos::from_secs(1);
const WAIT_MAX: Nanos = Nanos::from_secs(10);
/// Bytes of output that are looked at in a turn.
const OUTPUT_BYTES: usize = 4 << 10;
/// Bytes of the last error that are kept.
const ERROR_BYTES_MAX: usize = 512;
/// What a process prints once it does its work.
const READY: &str = "ready";

/// A process that is started again when it ends. It ends with its standard input.
pub(super) struct KeptProcess {
    /// Name for messages.
    pub(super) name: String,
    command: Box<dyn Fn() -> Command>,
    ends_quickly: bool,
    running: Option<Running>,
    /// When it is started next.
    start_at: Nanos,
    wait: Nanos,
    /// Why it does not do its work, as far as it is known.
    problem: String,
}

struct Running {
    child: Child,
    stdout: ChildStdout,
    stderr: ChildStderr,
    is_ready: bool,
    ends_quickly: bool,
}

impl KeptProcess {
    /// A process that `command` returns. It is started in the first turn. It `ends_quickly` once
    /// its input ends; another one is killed, as ssh may wait for the network.
    pub(super) fn new(name: &str, ends_quickly: bool, command: Box<dyn Fn() -> Command>) -> Self {
        Self {
            name: name.to_owned(),
            command,
            ends_quickly,
            running: None,
            start_at: Nanos::ZERO,
            wait: WAIT_MIN,
            problem: "it has not started yet".to_owned(),
        }
    }

    /// Whether it does its work.
    pub(super) fn is_ready(&self) -> bool {
        self.running.as_ref().is_some_and(|running| running.is_ready)
    }

    /// It does its work, as something else than its output shows.
    pub(super) fn note_ready(&mut self) {
        if let Some(running) = &mut self.running {
            (running.is_ready, self.wait) = (true, WAIT_MIN);
        }
    }

    /// Returns `up`, or why it is not.
    pub(super) fn state(&self) -> &str {
        if self.is_ready() { "up" } else { &self.problem }
    }

    /// Returns the pipes of its output.
    pub(super) fn pipes(&self) -> impl Iterator<Item = PollFd<'_>> {
        self.running.iter().flat_map(|running| {
            let (stdout, stderr) = (running.stdout.as_fd(), running.stderr.as_fd());
            [stdout, stderr].map(|pipe| PollFd::from_borrowed_fd(pipe, PollFlags::IN))
        })
    }

    /// Reads what it wrote, and starts it again if it ended.
    pub(super) fn turn(&mut self, now: Nanos) {
        let Some(running) = &mut self.running else {
            if now >= self.start_at {
                self.start(now);
            }
            return;
        };
        let errors = read_all(&mut running.stderr);
        if let Some(line) = errors.lines().rev().map(str::trim).find(|line| !line.is_empty()) {
            self.problem = line.chars().take(ERROR_BYTES_MAX).collect();
        }
        if read_all(&mut running.stdout).lines().any(|line| line.trim() == READY) {
            (running.is_ready, self.wait) = (true, WAIT_MIN);
        }
        match running.child.try_wait() {
            Ok(None) => {}
            Ok(Some(status)) => {
                if self.problem.is_empty() {
                    self.problem = status.to_string();
                }
                self.end(now);
            }
            Err(error) => {
                self.problem = error.to_string();
                self.end(now);
            }
        }
    }

    fn start(&mut self, now: Nanos) {
        let mut command = (self.command)();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        match command.spawn() {
            Ok(mut child) => {
                self.problem.clear();
                let stdout = child.stdout.take().expect("it is a pipe");
                let stderr = child.stderr.take().expect("it is a pipe");
                set_nonblocking(&stdout);
                set_nonblocking(&stderr);
                let ends_quickly = self.ends_quickly;
                self.running = Some(Running { child, stdout, stderr, is_ready: false, ends_quickly });
            }
            Err(error) => {
                self.problem = error.to_string();
                self.end(now);
            }
        }
    }

    fn end(&mut self, now: Nanos) {
        self.running = None;
        self.start_at = now.after(self.wait);
        self.wait = self.wait.after(self.wait).min(WAIT_MAX);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        if !self.ends_quickly {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

fn set_nonblocking(pipe: impl AsFd) {
    if let Ok(flags) = fcntl_getfl(&pipe) {
        let _ = fcntl_setfl(&pipe, flags | OFlags::NONBLOCK);
    }
}

/// Returns what a pipe has, without waiting.
fn read_all(pipe: &mut impl Read) -> String {
    let mut bytes = [0; OUTPUT_BYTES];
    loop {
        match pipe.read(&mut bytes) {
            Ok(count) => return String::from_utf8_lossy(&bytes[..count]).into_owned(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return String::new(),
        }
    }
}
