//! [`Job`]: a program to run on the generator's CPU, and [`Used`]: what it used.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::command_text::shown;
use crate::cpus;
use crate::cycles;
use crate::session::Session;

/// How much longer than planned a program may take. oha ends when its HTTP/3 connections have been
/// idle for 30 s.
const GRACE_SECONDS: u32 = 40;

/// A program to run and to measure.
pub(crate) struct Job<'a> {
    pub(crate) words: &'a [String],
    /// Exit codes other than 0 that are not errors.
    pub(crate) fine: &'a [i32],
    /// How long it should take.
    pub(crate) seconds: u32,
    /// Processes to count cycles of. If there are none, the cycles of the program itself are
    /// counted.
    pub(crate) cycles_of: &'a [u32],
}

/// Resource usage and output of one program.
pub(crate) struct Used {
    /// User and system time together, µs.
    pub(crate) cpu_us: f64,
    /// Cycles in user and kernel mode, if this machine counts them.
    pub(crate) cycles: Option<f64>,
    /// Peak resident memory.
    pub(crate) peak_rss_bytes: u64,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Job<'_> {
    /// Runs it to its end on the generator's CPU.
    pub(crate) fn run(&self, session: &Session) -> Result<Used> {
        let folder = session.folder.path();
        let [usage, cycles_file, stdout, stderr] =
            ["usage.json", "cycles.csv", "stdout.txt", "stderr.txt"].map(|name| folder.join(name));
        let mut command = self.command(session, &usage, &cycles_file)?;
        command.stdin(Stdio::null());
        command.stdout(File::create(&stdout).context("stdout.txt")?);
        command.stderr(File::create(&stderr).context("stderr.txt")?);
        let status = cpus::spawn_on(session.cpus.generator, &mut command)?.wait().context("waiting")?;
        let text = |file: &Path| {
            let bytes = std::fs::read(file).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let (stdout, stderr) = (text(&stdout), text(&stderr));
        let shown = shown(self.words);
        let record = std::fs::read_to_string(&usage)
            .with_context(|| format!("`{shown}`: no usage file, {status}; stderr: {stderr}"))?;
        std::fs::remove_file(&usage).context("the usage file")?;
        let record: Value = serde_json::from_str(&record).context("the usage file")?;
        if record["in_time"] != true {
            bail!("`{shown}` did not end within {} s", self.seconds + GRACE_SECONDS);
        }
        let exit = record["exit"].as_i64().and_then(|exit| i32::try_from(exit).ok());
        if !exit.is_some_and(|exit| exit == 0 || self.fine.contains(&exit)) {
            bail!("`{shown}` ended with {exit:?}: {}", first_lines(&stderr, &stdout));
        }
        Ok(Used {
            cpu_us: record["cpu_us"].as_f64().context("cpu_us")?,
            cycles: if session.perf { cycles::parse(&text(&cycles_file)) } else { None },
            peak_rss_bytes: record["peak_rss_bytes"].as_u64().context("peak_rss_bytes")?,
            stdout,
            stderr,
        })
    }

    /// Returns the command of the helper that starts the program, under `perf stat` if that is
    /// available.
    fn command(&self, session: &Session, usage: &Path, cycles_file: &Path) -> Result<Command> {
        let helper = std::env::current_exe().context("cannot find this program")?;
        let mut command = if session.perf {
            let mut perf = Command::new("perf");
            perf.args(["stat", "-x", ",", "-e", "cycles", "-o"]).arg(cycles_file);
            if !self.cycles_of.is_empty() {
                let ids: Vec<String> = self.cycles_of.iter().map(u32::to_string).collect();
                perf.args(["-p", &ids.join(",")]);
            }
            perf.arg("--").arg(helper);
            perf
        } else {
            Command::new(helper)
        };
        command.args(["child", "--usage"]).arg(usage);
        command.args(["--seconds-max", &(self.seconds + GRACE_SECONDS).to_string(), "--"]).args(self.words);
        Ok(command)
    }
}

/// Returns the first lines of a program's output, to show the error.
fn first_lines(stderr: &str, stdout: &str) -> String {
    let said = if stderr.trim().is_empty() { stdout } else { stderr };
    said.trim().lines().take(4).collect::<Vec<_>>().join(" | ")
}
