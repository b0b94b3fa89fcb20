//! [`run`]: starts a program, waits for its end and records what it used, as the kernel accounts
//! it.
//!
//! The kernel adds up the usage of all children of a process. Each measured program therefore gets
//! a parent of its own: this task runner, called as `child`.

use std::path::Path;
use std::process::{Child, Command};

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::json;

/// Runs the command `words` for at most `seconds_max` and writes its resource usage to
/// `usage_file`.
pub fn run(usage_file: &Path, seconds_max: u32, words: &[String]) -> Result<()> {
    let [program, arguments @ ..] = words else { bail!("no command to run") };
    let mut child =
        Command::new(program).args(arguments).spawn().with_context(|| format!("cannot start {program}"))?;
    let in_time = ends_within(&child, i64::from(seconds_max) * 1_000)?;
    if !in_time {
        child.kill().context("kill")?;
    }
    let status = child.wait().context("wait")?;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).context("getrusage")?;
    let cpu_us = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    let record = json!({
        "exit": status.code(),
        "in_time": in_time,
        "cpu_us": cpu_us,
        // Linux counts resident memory in KiB.
        "peak_rss_bytes": usage.max_rss() * 1024,
    });
    std::fs::write(usage_file, record.to_string()).context("the usage file")
}

/// Waits at most `millis` for the end of `child`. Returns whether it ended.
pub(crate) fn ends_within(child: &Child, millis: i64) -> Result<bool> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).context("a process without an id")?;
    let handle = pidfd_open(pid, PidfdFlags::empty()).context("pidfd_open")?;
    let mut ended = [PollFd::new(&handle, PollFlags::IN)];
    Ok(poll(&mut ended, Some(&timespec(millis))).context("poll")? > 0)
}

/// Sleeps between two checks of something that sends no notification.
pub(crate) fn pause(millis: i64) -> Result<()> {
    poll(&mut [], Some(&timespec(millis))).context("poll").map(drop)
}

fn timespec(millis: i64) -> Timespec {
    Timespec { tv_sec: millis / 1_000, tv_nsec: millis % 1_000 * 1_000_000 }
}
