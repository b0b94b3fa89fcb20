//! [`measure`]: runs a program on one CPU and says what it used, as the kernel accounts it.
//!
//! The program is started by a helper, which is this task runner called as `child`: the kernel adds up what all
//! children of a process used, so each measured program gets a parent of its own.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde_json::{Value, json};

use super::cpus;

/// What one program used and said.
pub(super) struct Used {
    /// User and system time together, µs.
    pub(super) cpu_us: f64,
    /// Most memory it had at once.
    pub(super) peak_rss_bytes: u64,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Runs `words` on `cpu` to its end. `usage_file` is for the helper. Exit codes in `fine` are no error.
pub(super) fn measure(words: &[String], cpu: usize, usage_file: &Path, fine: &[i32]) -> Result<Used> {
    let mut command = Command::new("/proc/self/exe");
    command.args(["child", "--usage"]).arg(usage_file).arg("--").args(words);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = cpus::spawn_on(cpu, &mut command)?.wait_with_output().context("waiting for a program")?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let usage =
        std::fs::read_to_string(usage_file).with_context(|| format!("no usage; it said: {stderr}"))?;
    std::fs::remove_file(usage_file).context("the usage file")?;
    let usage: Value = serde_json::from_str(&usage).context("the usage file")?;
    let exit = usage["exit"].as_i64().and_then(|exit| i32::try_from(exit).ok());
    if !exit.is_some_and(|exit| exit == 0 || fine.contains(&exit)) {
        bail!("`{}` ended with {exit:?}: {stderr}{stdout}", words.join(" "));
    }
    Ok(Used {
        cpu_us: usage["cpu_us"].as_f64().context("cpu_us")?,
        peak_rss_bytes: usage["peak_rss_bytes"].as_u64().context("peak_rss_bytes")?,
        stdout,
        stderr,
    })
}

/// The helper: runs `words` and writes what they used to `usage_file`.
pub(crate) fn run(usage_file: &Path, words: &[String]) -> Result<()> {
    let [program, arguments @ ..] = words else { bail!("nothing to run") };
    let status =
        Command::new(program).args(arguments).status().with_context(|| format!("cannot start {program}"))?;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).context("getrusage")?;
    let cpu_us = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    // Linux counts resident memory in KiB.
    let record = json!({"exit": status.code(), "cpu_us": cpu_us, "peak_rss_bytes": usage.max_rss() * 1024});
    std::fs::write(usage_file, record.to_string()).context("the usage file")
}
