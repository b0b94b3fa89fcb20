//! Taking away what a lab leaves when it did not come to its own end.

use std::time::Duration;

use wavetank_driver::Clock;
use wavetank_plan::{Nanos, UserError};

use crate::lock::Lock;
use crate::response::system;
use crate::{LabFolder, LabState, LabTag, net, tagged_process};

/// How long killed processes may take to be gone, all together.
const DYING_MAX: Nanos = Nanos(5_000_000_000);

/// Time between two looks at a control group whose last process is still ending.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Ends whatever lives of the lab whose keeper is dead, and takes away everything it made but the lock, which the caller
/// holds. Nothing happens where nothing is.
pub(crate) fn sweep(folder: &LabFolder, lock: &Lock) -> Result<(), UserError> {
    if let Some(state) = LabState::read(folder.path())? {
        end(&state)?;
        remove_groups(&state.mark)?;
    }
    lock.empty().map_err(|error| system(&format!("`{}` cannot be emptied", folder.path().display()), &error))
}

/// Kills every process of the lab, and waits until all are gone. The kernel has killed them already if it was quick.
fn end(state: &LabState) -> Result<(), UserError> {
    let clock = Clock::starting_now();
    let mut handles = tagged_process::find_marked(&state.mark);
    handles.iter().for_each(tagged_process::kill);
    // A process that is ending has no command line any more, but still is the one that was noted.
    handles.extend(state.hosts.iter().filter_map(|host| host.process.handle()));
    for handle in handles {
        let left = (DYING_MAX.0 - clock.now().0).max(0).unsigned_abs();
        if !tagged_process::ended(&handle, Duration::from_nanos(left)) {
            let message = format!("processes of lab `{}` do not end", state.mark.name());
            let hint = "ps -ef | grep lab-host shows them; a process that waits for a disk cannot be killed";
            return Err(UserError::refused("lab_stuck", message, hint));
        }
    }
    Ok(())
}

/// Removes the lab's control groups. The kernel may still be taking the last processes out of them.
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

/// Nothing tells when a control group has become empty for good, so that one has to look again.
pub(crate) fn pause(span: Duration) {
    let timeout =
        rustix::event::Timespec { tv_sec: span.as_secs() as i64, tv_nsec: i64::from(span.subsec_nanos()) };
    // Waiting for nothing ends by its time, or by a signal, which is as good.
    let _ = rustix::event::poll(&mut [], Some(&timeout));
}
