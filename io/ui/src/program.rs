//! [`Program`]: the commands of the program itself, as processes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::problem::Problem;

/// Commands at a time; further requests wait.
const COMMANDS_MAX: usize = 4;
/// Longest output that is passed on, in bytes.
const OUTPUT_BYTES_MAX: u64 = 256 << 20;
/// Longest message that is passed on, in bytes.
const MESSAGE_BYTES_MAX: u64 = 64 << 10;
/// A report, a comparison or a check takes no longer.
const OUTPUT_MAX: Duration = Duration::from_mins(2);
/// Preparing a load takes no longer: its probe, its connections and the steps before it.
const START_MAX: Duration = Duration::from_mins(10);

/// The program and the runs directory that its commands use.
#[derive(Debug)]
pub(crate) struct Program {
    path: PathBuf,
    runs_dir: PathBuf,
    slots: Semaphore,
}

/// What a command printed.
#[derive(Debug)]
pub(crate) struct Output {
    /// The exit code; 4 (incomplete) if a signal ended it.
    pub(crate) exit: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Output {
    /// The error that the command printed.
    pub(crate) fn problem(&self) -> Problem {
        let text = if self.stderr.trim().is_empty() {
            String::from_utf8_lossy(&self.stdout)
        } else {
            self.stderr.as_str().into()
        };
        let is_hint = |line: &&str| line.starts_with("hint: ");
        let hint = text.lines().find(is_hint).unwrap_or_default().trim_start_matches("hint: ");
        let lines: Vec<&str> =
            text.lines().filter(|line| !is_hint(line) && !line.trim().is_empty()).collect();
        let message = lines.join("\n");
        let message = message.strip_prefix("error: ").unwrap_or(&message);
        Problem::bad_request(if message.is_empty() { "the command failed" } else { message }, hint)
    }
}

impl Program {
    pub(crate) fn new(path: PathBuf, runs_dir: PathBuf) -> Self {
        Self { path, runs_dir, slots: Semaphore::new(COMMANDS_MAX) }
    }

    /// Runs a command that only reads, and returns what it printed. It ends if the browser leaves.
    pub(crate) async fn output(&self, words: &[OsString]) -> Result<Output, Problem> {
        let mut command = Command::new(&self.path);
        command.args(words).kill_on_drop(true);
        self.run(command, OUTPUT_MAX).await
    }

    /// Starts a run in the background, and returns what the command printed when its load is
    /// prepared. The run does not depend on this process.
    pub(crate) async fn start_run(&self, file: &Path, words: &[OsString]) -> Result<Output, Problem> {
        let mut command = Command::new(&self.path);
        command.arg("run").arg(file).arg("--detach").arg("--runs-dir").arg(&self.runs_dir).args(words);
        self.run(command, START_MAX).await
    }

    async fn run(&self, mut command: Command, longest: Duration) -> Result<Output, Problem> {
        let busy = |_| Problem::internal("the server ends", "start wavetank ui again");
        let _slot = self.slots.acquire().await.map_err(busy)?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let failed = |what: &str, error: std::io::Error| {
            Problem::internal(
                format!("cannot {what}: {error}"),
                "check that the program is still in its place",
            )
        };
        let mut child = command.spawn().map_err(|error| failed("start the program", error))?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let work = async {
            let (stdout, stderr) = tokio::join!(read(out, OUTPUT_BYTES_MAX), read(err, MESSAGE_BYTES_MAX));
            Ok((stdout?, stderr?, child.wait().await?))
        };
        let done: Result<_, std::io::Error> = timeout(longest, work).await.map_err(|_| {
            let message = format!("the command took longer than {} s", longest.as_secs());
            Problem::internal(message, "run it in a terminal")
        })?;
        let (stdout, stderr, status) = done.map_err(|error| failed("read what the program prints", error))?;
        if stdout.len() as u64 > OUTPUT_BYTES_MAX {
            let message = format!("the result is larger than {} MB", OUTPUT_BYTES_MAX >> 20);
            return Err(Problem::internal(message, "write it to a file: wavetank report RUN --out FILE"));
        }
        let stderr = String::from_utf8_lossy(&stderr).into_owned();
        Ok(Output { exit: status.code().unwrap_or(4), stdout, stderr })
    }
}

/// Reads at most one byte more than `max`, so that the caller sees that there was more.
async fn read(pipe: Option<impl AsyncRead + Unpin>, max: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(max + 1).read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(stderr: &str, stdout: &str, message: &str, hint: &str) {
        let output = Output { exit: 2, stdout: stdout.as_bytes().to_vec(), stderr: stderr.to_owned() };
        assert_eq!(output.problem(), Problem::bad_request(message, hint));
    }

    #[test]
    fn the_error_of_a_command_is_its_message_and_hint() {
        check(
            "error: no run `x` [run_unknown]\nhint: name one\n",
            "",
            "no run `x` [run_unknown]",
            "name one",
        );
        check("", "error: cannot send\n", "cannot send", "");
        check("", "", "the command failed", "");
    }
}
