//! [`Program`]: the binary under test, run as a user would, with a deadline.

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
pub use rustix::process::Signal;
use rustix::process::{Pid, PidfdFlags, pidfd_open, pidfd_send_signal};
use serde_json::Value;

use crate::clock::Stamp;
use crate::result::RunResult;

/// No command of a test is meant to last as long.
pub const LIMIT: Duration = Duration::from_mins(3);

/// A program and how to call it.
#[derive(Clone, Debug)]
pub struct Program {
    words: Vec<String>,
    folder: Option<PathBuf>,
    input: Option<Vec<u8>>,
    environment: Vec<(String, String)>,
}

/// A started program; killed when dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    handle: rustix::fd::OwnedFd,
    stdout: File,
    stderr: File,
    words: Vec<String>,
    over: bool,
}

/// How a program ended, and its output.
#[derive(Debug)]
pub struct Outcome {
    /// The exit code; `None` if a signal ended it.
    pub exit: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// Its result.
    pub stdout: String,
    /// Its talk.
    pub stderr: String,
    /// From start to end.
    pub took: Duration,
    words: Vec<String>,
}

impl Program {
    /// The program at `path`; `WAVETANK_BIN` names another build of it, e.g. the release build.
    pub fn new(path: &str) -> Self {
        let path = std::env::var("WAVETANK_BIN").unwrap_or_else(|_| path.to_owned());
        Self { words: vec![path], folder: None, input: None, environment: Vec::new() }
    }

    /// Returns another program on the `PATH` or in the usual directories of servers; `None` if
    /// there is no such program.
    pub fn foreign(name: &str) -> Option<Self> {
        let folders = std::env::var_os("PATH")?;
        let folders = std::env::split_paths(&folders).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
        let path = folders.map(|folder| folder.join(name)).find(|path| path.is_file())?;
        let words = vec![path.to_string_lossy().into_owned()];
        Some(Self { words, folder: None, input: None, environment: Vec::new() })
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<S: AsRef<str>>(mut self, words: impl IntoIterator<Item = S>) -> Self {
        self.words.extend(words.into_iter().map(|word| word.as_ref().to_owned()));
        self
    }

    /// In this folder.
    #[must_use]
    pub fn in_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// With this on its standard input (else it is empty).
    #[must_use]
    pub fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = Some(input.into());
        self
    }

    /// With this in its environment.
    #[must_use]
    pub fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Called by `wrapper`, e.g. `["ip", "netns", "exec", NAME]` or `["prlimit", "--nofile=64"]`.
    #[must_use]
    pub fn under<S: AsRef<str>>(mut self, wrapper: impl IntoIterator<Item = S>) -> Self {
        let mut words: Vec<String> = wrapper.into_iter().map(|word| word.as_ref().to_owned()).collect();
        words.append(&mut self.words);
        self.words = words;
        self
    }

    /// The arguments of the call.
    pub fn arguments(&self) -> &[String] {
        &self.words
    }

    /// Starts it.
    pub fn start(self) -> Running {
        let stdout = tempfile::tempfile().expect("temporary files can be made");
        let stderr = tempfile::tempfile().expect("temporary files can be made");
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).envs(self.environment);
        command.stdin(self.input.as_deref().map_or_else(Stdio::null, stdin_of));
        command.stdout(stdout.try_clone().expect("a file can be named twice"));
        command.stderr(stderr.try_clone().expect("a file can be named twice"));
        if let Some(folder) = self.folder {
            command.current_dir(folder);
        }
        let child = command.spawn().unwrap_or_else(|error| panic!("cannot start {:?}: {error}", self.words));
        let pid = Pid::from_child(&child);
        let handle = pidfd_open(pid, PidfdFlags::empty()).expect("a running child has a handle");
        Running { child, handle, stdout, stderr, words: self.words, over: false }
    }

    /// Runs it to its end; panics if it lasts longer than [`LIMIT`].
    pub fn run(self) -> Outcome {
        let began = Stamp::now();
        let mut outcome = self.start().wait(LIMIT);
        outcome.took = Stamp::now().since(began);
        outcome
    }
}

/// A file holding `input`, at its start.
fn stdin_of(input: &[u8]) -> Stdio {
    use std::io::{Seek, Write};
    let mut file = tempfile::tempfile().expect("temporary files can be made");
    file.write_all(input).and_then(|()| file.rewind()).expect("temporary files can be written");
    file.into()
}

impl Running {
    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal to exactly this process.
    pub fn signal(&self, signal: Signal) {
        // A process that has just ended cannot be signalled, and need not be.
        let _ = pidfd_send_signal(&self.handle, signal);
    }

    /// Whether it ends within `limit`.
    pub fn ends_within(&self, limit: Duration) -> bool {
        let timeout = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: i64::from(limit.subsec_nanos()) };
        let mut handles = [PollFd::new(&self.handle, PollFlags::IN)];
        poll(&mut handles, Some(&timeout)).is_ok_and(|ready| ready > 0)
    }

    /// Its standard output so far.
    pub fn stdout(&self) -> String {
        content(&self.stdout)
    }

    /// Its standard error so far.
    pub fn stderr(&self) -> String {
        content(&self.stderr)
    }

    /// Waits for its end. If that takes longer than `limit`, kills it and panics with its output.
    pub fn wait(mut self, limit: Duration) -> Outcome {
        let began = Stamp::now();
        let ended = self.ends_within(limit);
        if !ended {
            self.signal(Signal::KILL);
        }
        let status: ExitStatus = self.child.wait().expect("a child can be waited for");
        self.over = true;
        let outcome = Outcome {
            exit: status.code(),
            signal: status.signal(),
            stdout: content(&self.stdout),
            stderr: content(&self.stderr),
            took: Stamp::now().since(began),
            words: self.words.clone(),
        };
        assert!(ended, "not over after {limit:?}: {outcome}");
        outcome
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.over {
            self.signal(Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

/// All of a file a child writes to, whatever its own position.
fn content(file: &File) -> String {
    use std::os::unix::fs::FileExt;
    let mut bytes = Vec::new();
    let mut chunk = [0; 16 * 1024];
    while let Ok(n) = file.read_at(&mut chunk, bytes.len() as u64) {
        if n == 0 {
            break;
        }
        bytes.extend_from_slice(&chunk[..n]);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Outcome {
    /// Panics with all output unless it exited with this code.
    #[track_caller]
    pub fn expect_exit(&self, code: i32) -> &Self {
        assert!(self.exit == Some(code), "expected exit {code}: {self}");
        self
    }

    /// Standard output as one JSON value.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("no JSON on stdout ({error}): {self}"))
    }

    /// Standard output as the `wavetank.run/1` of a run.
    #[track_caller]
    pub fn result(&self) -> RunResult {
        RunResult::new(self.json())
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { exit, signal, stdout, stderr, took, words } = self;
        writeln!(f, "{}", words.join(" "))?;
        writeln!(f, "exit {exit:?}, signal {signal:?}, after {took:?}")?;
        writeln!(f, "--- stdout\n{stdout}\n--- stderr\n{stderr}")
    }
}
