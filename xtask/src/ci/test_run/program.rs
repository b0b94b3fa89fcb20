//! [`TestProgram`]: one program of tests, as cargo built it, and how it is run.

use std::io::{PipeReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use anyhow::{Context as _, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;

use crate::ci::cargo::{cargo_program, compile_with_clippy};

/// How often to check for the end of a program that prints nothing. A process that it left behind
/// can keep the pipe open.
const POLL: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// A program of tests, or the tests in documentation, which cargo itself runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TestProgram {
    /// What `cargo test` calls it: `unittests src/lib.rs`.
    title: String,
    /// The package that it tests.
    package: String,
    /// The program itself; `None` for tests in documentation.
    executable: Option<PathBuf>,
    /// The folder of its package, in which cargo runs it.
    folder: PathBuf,
    /// Which of its tests run.
    selection: Selection,
}

/// Tests of a program, by the beginning of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Selection {
    All,
    Only(&'static [&'static str]),
    Without(&'static [&'static str]),
}

/// How a program ended, and its output on stdout and stderr.
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) output: String,
}

impl TestProgram {
    /// Tests in the documentation of all packages.
    pub(super) fn documentation(root: &Path) -> Self {
        let (title, package) = ("Doc-tests".to_owned(), "all packages".to_owned());
        Self { title, package, executable: None, folder: root.to_owned(), selection: Selection::All }
    }

    /// Returns the program that a line of `cargo test --no-run --message-format=json` reports.
    pub(super) fn from_message(line: &str) -> Option<Self> {
        let message: Value = serde_json::from_str(line).ok()?;
        if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
            return None;
        }
        let executable = PathBuf::from(message["executable"].as_str()?);
        let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
        let source = Path::new(message["target"]["src_path"].as_str()?);
        let source = source.strip_prefix(&folder).unwrap_or(source).display().to_string();
        let is_own = message["target"]["kind"].as_array()?.iter().any(|kind| kind == "test");
        let title = if is_own { source } else { format!("unittests {source}") };
        // `path+file:///folder/core/wire#wavetank-wire@0.1.0`; the name is missing where it is that
        // of the folder.
        let package = message["package_id"].as_str()?.rsplit('#').next()?.split('@').next()?;
        let is_version = package.starts_with(|first: char| first.is_ascii_digit());
        let package = if is_version { folder.file_name()?.to_str()? } else { package }.to_owned();
        Some(Self { title, package, executable: Some(executable), folder, selection: Selection::All })
    }

    /// Returns the same program with these of its tests.
    pub(super) fn select(&self, selection: Selection) -> Self {
        Self { selection, ..self.clone() }
    }

    /// Whether only selected tests run.
    pub(super) fn runs_only(&self) -> bool {
        matches!(self.selection, Selection::Only(_))
    }

    /// Name and package in one line.
    pub(super) fn name(&self) -> String {
        format!("{} ({})", self.title, self.package)
    }

    /// Returns the command that runs it, with what cargo adds to its environment.
    pub(super) fn command(&self) -> Command {
        let mut command = if let Some(executable) = &self.executable {
            let mut command = Command::new(executable);
            match self.selection {
                Selection::All => {}
                Selection::Only(names) => drop(command.args(names)),
                Selection::Without(names) => {
                    command.args(names.iter().flat_map(|name| ["--skip", name]));
                }
            }
            command
        } else {
            let mut cargo = Command::new(cargo_program());
            cargo.args(["test", "--workspace", "--locked", "--no-fail-fast", "--doc"]);
            // The libraries are there already.
            compile_with_clippy(&mut cargo);
            cargo
        };
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        command
    }
}

/// Runs `command` to its end. `on_line` receives each line of its output when it is complete.
pub(super) fn run(mut command: Command, on_line: impl FnMut(&str)) -> Result<Ended> {
    let (reader, writer) = std::io::pipe().context("a pipe")?;
    command.stdin(Stdio::null()).stdout(writer.try_clone().context("a pipe")?).stderr(writer);
    let program = command.get_program().to_owned();
    let mut child = command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
    // The command has ends of the pipe, too, which would keep it open.
    drop(command);
    let output = read_while_running(reader, &mut child, on_line)?;
    Ok(Ended { status: child.wait().context("a program of tests")?, output })
}

/// Reads until the pipe is closed, or until `child` has ended and nothing is left to read.
fn read_while_running(
    mut reader: PipeReader,
    child: &mut Child,
    mut on_line: impl FnMut(&str),
) -> Result<String> {
    let mut output = Vec::new();
    let mut complete = 0;
    let mut chunk = [0; 16 * 1024];
    loop {
        let ready = poll(&mut [PollFd::new(&reader, PollFlags::IN)], Some(&POLL));
        if ready == Ok(0) && child.try_wait().context("a program of tests")?.is_some() {
            break;
        }
        if !ready.is_ok_and(|ready| ready > 0) {
            continue;
        }
        let count = reader.read(&mut chunk).context("the output of the tests")?;
        if count == 0 {
            break;
        }
        output.extend_from_slice(&chunk[..count]);
        while let Some(length) = output[complete..].iter().position(|byte| *byte == b'\n') {
            on_line(&String::from_utf8_lossy(&output[complete..complete + length]));
            complete += length + 1;
        }
    }
    Ok(String::from_utf8_lossy(&output).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(id: &str, kind: &str, source: &str) -> String {
        format!(
            r#"{{"reason":"compiler-artifact","package_id":"{id}","manifest_path":"/r/core/wire/Cargo.toml",
               "target":{{"kind":["{kind}"],"src_path":"/r/core/wire/{source}"}},"profile":{{"test":true}},
               "executable":"/t/wire-1"}}"#
        )
    }

    #[test]
    fn programs_are_read_from_messages_of_cargo() {
        let id = "path+file:///r/core/wire#wavetank-wire@0.1.0";
        let read = |line: &str| TestProgram::from_message(line).map(|program| program.name());
        assert_eq!(
            read(&message(id, "lib", "src/lib.rs")).as_deref(),
            Some("unittests src/lib.rs (wavetank-wire)")
        );
        assert_eq!(
            read(&message("path+file:///r/core/wire#0.1.0", "test", "tests/it/main.rs")).as_deref(),
            Some("tests/it/main.rs (wire)")
        );
        assert_eq!(read(&message(id, "lib", "src/lib.rs").replace("true", "false")), None);
        assert_eq!(read(r#"{"reason":"build-finished","success":true}"#), None);
        assert_eq!(read("warning: text of another program"), None);
    }

    fn run_shell(script: &str) -> (Option<i32>, String, Vec<String>) {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]);
        let mut lines = Vec::new();
        let ended = run(shell, |line| lines.push(line.to_owned())).expect("a shell");
        (ended.status.code(), ended.output, lines)
    }

    #[test]
    fn output_has_both_streams_in_order() {
        let (code, output, lines) = run_shell("echo a; echo b >&2; printf c; exit 3");
        assert_eq!((code, output.as_str()), (Some(3), "a\nb\nc"));
        assert_eq!(lines, ["a", "b"]);
    }

    #[test]
    fn a_process_left_behind_does_not_hold_up_the_end() {
        let (code, output, _) = run_shell("sleep 30 & echo $!");
        assert_eq!(code, Some(0));
        let left = output.trim().parse().ok().and_then(rustix::process::Pid::from_raw).expect("an id");
        rustix::process::kill_process(left, rustix::process::Signal::KILL).expect("it still runs");
    }
}
