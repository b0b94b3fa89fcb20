//! `wavetank lab logs HOST [SERVICE]`.

use std::io::{ErrorKind, Write};
use std::time::Duration;

use rustix::event::{Timespec, poll};
use wavetank_lab::{LabFolder, LogFile};
use wavetank_plan::{ExitCode, UserError};

use super::log_follower::LogFollower;
use crate::run::output::os_error_text;

/// Time between two looks at whether there is more to show: a file tells nobody.
const LOOK_AGAIN: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// How long hosts may take to end after their keeper; the kernel ends them at once.
const DYING_MAX: Duration = Duration::from_secs(5);

/// Show what was written, a log after the other, each below its name where there are several; with `follow` also what is
/// written from now on, until the lab is gone. Exit 0.
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
        // A log that is full is taken the place of, and this is where the old one goes.
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
        // Asked before the last look, which then shows all there is.
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

/// `None` where whoever reads has seen enough.
fn seen<T>(shown: std::io::Result<T>, log: &LogFile) -> Result<Option<T>, UserError> {
    match shown {
        Ok(shown) => Ok(Some(shown)),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(None),
        Err(error) => {
            let message = format!("the log of {} cannot be shown: {}", log.name, os_error_text(&error));
            Err(UserError::refused(
                "lab_system",
                message,
                format!("it is stored in `{}`", log.path.display()),
            ))
        }
    }
}
