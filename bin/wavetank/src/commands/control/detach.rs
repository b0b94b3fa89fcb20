//! `wavetank run --detach`: the run goes on in the background, without a terminal.

use std::ffi::OsString;
use std::fs::File;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, UNIX_EPOCH};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use wavetank_control::client;
use wavetank_driver::WallClock;
use wavetank_runner::run_folder;
use wavetank_units::{Code, ExitCode, UserError, sanitize};

use crate::output;

/// Set for the process in the background.
pub(crate) const DETACHED: &str = "WAVETANK_DETACHED";
/// The output of a run in the background is kept this long.
const LOGS_KEPT: Duration = Duration::from_hours(7 * 24);
/// How often to look whether the run has started or ended.
const LOOK_EVERY: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Starts this command again in the background, and returns when its load is prepared. If it ends
/// before, its output is printed, and its exit code is returned.
pub(crate) fn detach() -> Result<u8, UserError> {
    let (log, file) = log_file()?;
    let failed = |what: &str, error: std::io::Error| {
        UserError::refused(Code::CannotDetach, format!("cannot {what}: {error}"), "run it without --detach")
    };
    let errors = file.try_clone().map_err(|error| failed("write its output", error))?;
    let program = std::env::current_exe().map_err(|error| failed("find this program", error))?;
    let words = std::env::args_os().skip(1).filter(|word| word != "--detach");
    let mut child = Command::new(program)
        .args(words.collect::<Vec<OsString>>())
        .env(DETACHED, "1")
        .stdin(if std::io::stdin().is_terminal() { Stdio::null() } else { Stdio::inherit() })
        .stdout(file)
        .stderr(errors)
        .spawn()
        .map_err(|error| failed("start a process", error))?;
    loop {
        let ended = child.try_wait().map_err(|error| failed("wait for the process", error))?;
        if let Some(status) = ended {
            let text = std::fs::read_to_string(&log).unwrap_or_default();
            let _ = std::fs::remove_file(&log);
            output::print(&text)?;
            return Ok(status
                .code()
                .and_then(|code| u8::try_from(code).ok())
                .unwrap_or(ExitCode::Incomplete as u8));
        }
        if let Some(started) = started(&child)? {
            output::print(&format!("{started}output: {}\n", sanitize(&log.to_string_lossy())))?;
            return Ok(ExitCode::Pass as u8);
        }
        wait(&child);
    }
}

/// Waits a moment, or until the process ends.
fn wait(child: &Child) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let process = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    let mut handles: Vec<_> = process.iter().map(|process| PollFd::new(process, PollFlags::IN)).collect();
    // Whatever happened is looked at next.
    let _ = poll(&mut handles, Some(&LOOK_EVERY));
}

/// Leaves the terminal, if this process is one that [`detach`] started. Signals of the terminal do
/// not reach it from then on.
pub(crate) fn leave_terminal() {
    if std::env::var_os(DETACHED).is_some() {
        // It fails only for the leader of a process group, which has no terminal to leave.
        let _ = rustix::process::setsid();
    }
}

/// Describes the run of the process once it listens.
fn started(child: &Child) -> Result<Option<String>, UserError> {
    let runs = client::running(&run_folder()).map_err(|error| {
        let hint = "run it without --detach";
        UserError::refused(Code::CannotDetach, format!("cannot list running runs: {error}"), hint)
    })?;
    let run = runs.into_iter().find(|run| run.pid == child.id());
    Ok(run.map(|run| {
        let id = sanitize(&run.id);
        format!(
            "run {id} ({}) goes on in the background\nwatch it: wavetank attach {id}\nstop it: wavetank stop {id}\n",
            sanitize(&run.name)
        )
    }))
}

/// Creates the file for the output of the process in the background.
fn log_file() -> Result<(PathBuf, File), UserError> {
    let folder = run_folder();
    let created = folder.create().and_then(|()| {
        remove_old_logs(folder.path());
        let path = folder.path().join(format!("detached-{}.log", std::process::id()));
        File::create(&path).map(|file| (path, file))
    });
    created.map_err(|error| {
        let path = folder.path().display().to_string();
        let message = format!("cannot write to `{}`: {error}", sanitize(&path));
        UserError::refused(Code::CannotDetach, message, "check its owner, or run without --detach")
    })
}

/// Removes outputs of earlier runs that nothing has been written to for a week.
fn remove_old_logs(folder: &Path) {
    let now = Duration::from_nanos(WallClock::unix_ns().unsigned_abs());
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_log = entry.path().extension().is_some_and(|ending| ending == "log");
        let written = entry.metadata().and_then(|metadata| metadata.modified()).ok();
        let written = written.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        if is_log && written.is_some_and(|written| now.saturating_sub(written) > LOGS_KEPT) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
