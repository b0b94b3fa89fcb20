//! Removes the remains of a lab that did not end in an orderly way.

use std::time::Duration;

use wavetank_driver::Clock;
use wavetank_units::{Code, Nanos, UserError};

use crate::lock::Lock;
use crate::response::system;
use crate::{LabFolder, LabState, LabTag, net, tagged_process};

/// Time limit for the end of all killed processes together.
const DYING_MAX: Nanos = Nanos(20_000_000_000);

/// Polling interval for a control group with a last process that is still ending.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Ends all processes of a lab with a dead keeper, and removes everything it made except the lock,
/// which the caller holds. Does nothing if nothing is left.
pub(crate) fn sweep(folder: &LabFolder, lock: &Lock) -> Result<(), UserError> {
    if let Some(state) = LabState::read(folder.path())? {
        end(&state)?;
        remove_groups(&state.mark)?;
    }
    lock.empty().map_err(|error| system(&format!("`{}` cannot be emptied", folder.path().display()), &error))
}

/// Kills every process of the lab and waits until all have ended. The kernel may have killed them
/// already.
fn end(state: &LabState) -> Result<(), UserError> {
    let clock = Clock::starting_now();
    let mut handles = tagged_process::find_marked(&state.mark);
    handles.iter().for_each(tagged_process::kill);
    // An ending process has no command line any more, but it can be identified by number and start
    // time.
    handles.extend(state.hosts.iter().filter_map(|host| host.process.handle()));
    for handle in handles {
        let left = (DYING_MAX.0 - clock.now().0).max(0).unsigned_abs();
        if !tagged_process::ended(&handle, Duration::from_nanos(left)) {
            let message = format!("processes of lab `{}` do not end", state.mark.name());
            let hint =
                "find them with `ps -ef | grep lab-host`; a process that waits for a disk cannot be killed";
            return Err(UserError::refused(Code::LabStuck, message, hint));
        }
    }
    Ok(())
}

/// Removes the lab's control groups. The kernel may still be removing the last processes from them.
pub(crate) fn remove_groups(mark: &LabTag) -> Result<(), UserError> {
    let clock = Clock::starting_now();
    loop {
        match net::remove_groups(mark) {
            Ok(()) => return Ok(()),
            Err(error) if clock.now() > DYING_MAX => return Err(error),
            Err(_) => pause(LOOK_AGAIN),
        }
    }
}

/// There is no notification when a control group has become permanently empty, so it is polled.
pub(crate) fn pause(span: Duration) {
    let timeout =
        rustix::event::Timespec { tv_sec: span.as_secs() as i64, tv_nsec: i64::from(span.subsec_nanos()) };
    // The pause ends by its timeout, or early by a signal, which is harmless.
    let _ = rustix::event::poll(&mut [], Some(&timeout));
}
