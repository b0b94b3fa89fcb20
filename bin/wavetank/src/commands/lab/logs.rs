//! `wavetank lab logs HOST [SERVICE]`.

use std::io::{ErrorKind, Write};
use std::time::Duration;

use rustix::event::{Timespec, poll};
use wavetank_lab::{LabFolder, LogFile};
use wavetank_store::os_error_text;
use wavetank_units::{Code, ExitCode, UserError};

use super::log_follower::LogFollower;

/// Time between two checks for new lines, because a file does not report them.
const LOOK_AGAIN: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// How long hosts may take to end after their supervisor. The kernel ends them immediately.
const DYING_MAX: Duration = Duration::from_secs(5);

/// Prints logs one after another, each under its name if there are several. With `follow`,
/// continues with new lines until the lab is gone. Exit 0.
pub(super) fn logs(
    folder: &LabFolder,
    host: &str,
    service: Option<&str>,
    follow: bool,
) -> Result<u8, UserError> {
    let (state, logs) = (folder.state()?, wavetank_lab::logs(folder, host, service)?);
    let mut to = std::io::stdout().lock();
    let mut speaker = (logs.len() > 1).then_some("");
    let mut followed = Vec::new();
    for log in &logs {
        let shown = LogFollower::open(log).and_then(|mut log| log.show(&mut speaker, &mut to).map(|()| log));
        // A full log is renamed to this name and replaced.
        let older = log.name.rsplit('.').next() == Some("older");
        match seen(shown, log)? {
            Some(mut shown) if !follow || older => {
                if seen(shown.end(&mut speaker, &mut to).and_then(|()| to.flush()), log)?.is_none() {
                    return Ok(ExitCode::Pass as u8);
                }
            }
            Some(shown) => followed.push((shown, log)),
            None => return Ok(ExitCode::Pass as u8),
        }
    }
    let mut kept = follow;
    while kept {
        // A signal ends this process.
        let _ = poll(&mut [], Some(&LOOK_AGAIN));
        // Checked before the last look at the logs, so that no line is missed.
        kept = wavetank_lab::is_kept(folder);
        if !kept {
            wavetank_lab::wait_for_end(&state, DYING_MAX);
        }
        for (shown, log) in &mut followed {
            if seen(shown.show(&mut speaker, &mut to), log)?.is_none() {
                return Ok(ExitCode::Pass as u8);
            }
        }
    }
    Ok(ExitCode::Pass as u8)
}

/// Returns `None` if the reader of stdout has closed it.
fn seen<T>(shown: std::io::Result<T>, log: &LogFile) -> Result<Option<T>, UserError> {
    match shown {
        Ok(shown) => Ok(Some(shown)),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(None),
        Err(error) => {
            let message = format!("the log of {} cannot be shown: {}", log.name, os_error_text(&error));
            Err(UserError::refused(
                Code::LabSystem,
                message,
                format!("it is stored in `{}`", log.path.display()),
            ))
        }
    }
}
