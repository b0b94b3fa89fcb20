//! Runs each binary in an empty root folder, without `/proc`, `/etc` or any library, and under an
//! emulator for a foreign architecture. A server and a run use each other on loopback.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use wavetank_bench::programs;

use super::arch::Arch;
use super::program;

/// No command here is meant to last as long, not even under an emulator.
const LIMIT_S: &str = "120";

/// A way of running a binary.
pub(super) struct Stage {
    /// Arguments in front of the binary.
    before: Vec<String>,
    /// Where it runs, and where its archives go.
    folder: tempfile::TempDir,
    /// Emulators know no `io_uring`: then `auto` must find that out by itself.
    emulated: bool,
}

/// Exercises `binary`; returns what could not be done here.
pub(super) fn smoke(arch: Arch, binary: &Path, version: &str) -> Result<Vec<String>> {
    let mut skipped = Vec::new();
    match stage(arch, binary)? {
        Ok(stage) => exercise(&stage, version).with_context(|| format!("smoke of {}", arch.name()))?,
        Err(reason) => skipped.push(format!("dist smoke {}: {reason}", arch.name())),
    }
    Ok(skipped)
}

/// Returns the arguments that run `binary` on this machine, if that is possible at all.
pub(super) fn plainly(arch: Arch, binary: &Path) -> Option<Vec<String>> {
    let binary = binary.display().to_string();
    if arch.is_native() {
        return Some(vec![binary]);
    }
    let emulator = programs::find(&emulator(arch))?;
    Some(vec![emulator.display().to_string(), binary])
}

fn emulator(arch: Arch) -> String {
    format!("qemu-{}", arch.name())
}

/// The strictest stage there is here, or why there is none.
fn stage(arch: Arch, binary: &Path) -> Result<Result<Stage, String>> {
    let folder = tempfile::tempdir().context("a folder")?;
    if !arch.is_native() {
        let Some(words) = plainly(arch, binary) else {
            return Ok(Err(format!("{} is not installed (apt-get install qemu-user)", emulator(arch))));
        };
        return Ok(Ok(Stage { before: words, folder, emulated: true }));
    }
    let inside = folder.path().join("wavetank");
    std::fs::copy(binary, &inside).with_context(|| inside.display().to_string())?;
    let root = folder.path().display().to_string();
    let mut before: Vec<String> = Vec::new();
    if !rustix::process::geteuid().is_root() {
        before.extend(["unshare", "--user", "--map-root-user"].map(str::to_owned));
    }
    before.extend(["chroot".to_owned(), root, "/wavetank".to_owned()]);
    let stage = Stage { before, folder, emulated: false };
    let tried = stage.command(&["--version"]).output().context("timeout cannot be started")?;
    if tried.status.success() {
        return Ok(Ok(stage));
    }
    let said = String::from_utf8_lossy(&tried.stderr).trim().to_owned();
    if said.contains("ermission") || said.contains("ermitted") {
        return Ok(Err(format!("no empty root folder can be entered here: {said}")));
    }
    bail!("does not run in an empty root folder: {} {said}", tried.status)
}

fn exercise(stage: &Stage, version: &str) -> Result<()> {
    let said = program::output(&mut stage.command(&["--version"]))?;
    ensure!(said.trim() == format!("wavetank {version}"), "--version says `{}`", said.trim());
    let server = Server::start(stage)?;
    for engine in ["epoll", "auto"] {
        let words =
            ["run", &server.url, "-c", "4", "-d", "1s", "--engine", engine, "--format", "json", "--quiet"];
        let output = stage.command(&words).output().context("timeout cannot be started")?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        // 3: on a busy machine, and under an emulator always, the generator doubts itself.
        ensure!(matches!(output.status.code(), Some(0 | 3)), "run ended with {}: {said}", output.status);
        let run: Value =
            serde_json::from_slice(&output.stdout).with_context(|| format!("the result: {said}"))?;
        let done = judge(&run, stage.emulated).with_context(|| format!("--engine {engine}: {run}"))?;
        println!("{}: {done} requests done, engine {}", words.join(" "), run["generator"]["engine"]);
    }
    let report = program::output(&mut stage.command(&["report", "latest"]))?;
    ensure!(report.contains("measured"), "report says `{report}`");
    server.stop()
}

/// The run did what it says; how many requests were done.
fn judge(run: &Value, emulated: bool) -> Result<u64> {
    let count = |name: &str| run["requests"][name].as_u64().context("a count is missing");
    let done = count("done")?;
    ensure!(done > 0, "nothing was done");
    ensure!(count("failed")? == 0, "requests failed");
    ensure!(run["status"]["200"].as_u64() == Some(done), "other answers than 200");
    if emulated {
        ensure!(run["generator"]["engine"] == "epoll", "an engine was chosen that the emulator has not");
    }
    Ok(done)
}

impl Stage {
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", LIMIT_S]).args(&self.before).args(words);
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }
}

/// `wavetank serve` on a free port; stopped when dropped.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(stage: &Stage) -> Result<Self> {
        let mut command = stage.command(&["serve", "--listen", "127.0.0.1:0", "--threads", "1"]);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("timeout cannot be started")?;
        let output = child.stdout.take().expect("stdout is piped");
        let mut server = Self { child, url: String::new() };
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).context("the server's first line")?;
        // serving http://127.0.0.1:40123/ (Ctrl-C stops)
        let url = line.split(' ').find(|word| word.starts_with("http://"));
        url.with_context(|| format!("the server says `{}`", line.trim()))?.clone_into(&mut server.url);
        Ok(server)
    }

    /// By the signal that ends it in daily life.
    fn stop(mut self) -> Result<()> {
        self.signal();
        let status = self.child.wait().context("waiting for the server")?;
        ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }

    fn signal(&self) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // It may be over already: then there is nothing to end.
            let _ = kill_process(pid, Signal::TERM);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.signal();
            let _ = self.child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(run: &Value, emulated: bool, expected: Option<u64>) {
        assert_eq!(judge(run, emulated).ok(), expected, "{run}");
    }

    #[test]
    fn a_run_must_have_done_something_and_all_of_it_well() {
        let run = |done: u64, failed: u64, engine: &str| {
            json!({
                "requests": {"done": done, "failed": failed},
                "status": {"200": done},
                "generator": {"engine": engine},
            })
        };
        check(&run(7, 0, "epoll"), true, Some(7));
        check(&run(7, 0, "uring"), false, Some(7));
        check(&run(7, 0, "uring"), true, None);
        check(&run(7, 1, "epoll"), false, None);
        check(&run(0, 0, "epoll"), false, None);
        check(&json!({}), false, None);
    }

    #[test]
    fn an_architecture_of_this_machine_runs_plainly() {
        let native = Arch::ALL.into_iter().find(|arch| arch.is_native());
        let Some(native) = native else { return };
        assert_eq!(plainly(native, Path::new("/x/wavetank")), Some(vec!["/x/wavetank".to_owned()]));
    }
}
