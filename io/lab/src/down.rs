//! [`down`]: takes a lab down, whatever its state.

use std::os::fd::OwnedFd;
use std::time::Duration;

use serde_json::json;
use wavetank_driver::Clock;
use wavetank_units::{Nanos, UserError};

use crate::cleanup::{pause, sweep};
use crate::client::Client;
use crate::{LabFolder, LabState, crash, refusals, tagged_process};

/// Time limit for a keeper to end its lab. After that it is killed, and the kernel ends the lab.
const KEEPER_MAX: Duration = Duration::from_secs(10);

/// How long another process may hold the folder of a lab that has no keeper any more.
pub(crate) const HELD_MAX: Nanos = Nanos(30_000_000_000);

/// How many keepers are ended one after the other, since the lab may be brought up again meanwhile.
const KEEPERS_MAX: u32 = 3;

/// Polling interval while another process holds the folder.
pub(crate) const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Takes the lab in `folder` down. A running keeper ends it in an orderly way; without one, its
/// remains are removed. Nothing of the lab exists after a successful return.
///
/// # Errors
/// Missing rights, processes that do not end, or another process at work on the lab. Another `down`
/// can remove what is left then.
pub fn down(folder: &LabFolder) -> Result<(), UserError> {
    refusals::privileged()?;
    let (mut clock, mut ended) = (Clock::starting_now(), 0);
    while !clear_leftovers(folder)? {
        match keeper(folder)? {
            Some(keeper) if ended < KEEPERS_MAX => {
                end(folder, &keeper)?;
                (clock, ended) = (Clock::starting_now(), ended + 1);
            }
            _ if clock.now() > HELD_MAX => return Err(refusals::held(folder.name())),
            // The holder releases the folder when it ends, or becomes known: it is the keeper of a
            // lab that is starting.
            _ => pause(LOOK_AGAIN),
        }
    }
    Ok(())
}

/// Has the keeper end its lab, and kills the keeper if it does not.
fn end(folder: &LabFolder, keeper: &OwnedFd) -> Result<(), UserError> {
    let clock = Clock::starting_now();
    match Client::connect(folder) {
        Ok(mut client) => {
            client.set_read_timeout(KEEPER_MAX)?;
            // An error comes from the keeper. Its end is awaited below in any case, and everything
            // it could not remove is removed then.
            let _ = client.request(&json!({ "ask": "down" }));
            crash::point("asked");
        }
        // The keeper is still starting the lab; killing it notifies the process that waits for the
        // lab.
        Err(_) => tagged_process::kill(keeper),
    }
    // A keeper that used up its time without an answer gets no more.
    let left = KEEPER_MAX.saturating_sub(Duration::from_nanos(clock.now().0.unsigned_abs()));
    if !tagged_process::ended(keeper, left) {
        tagged_process::kill(keeper);
    }
    Ok(())
}

/// Removes what is left of the lab unless the lock is held; returns false if it is.
pub(crate) fn clear_leftovers(folder: &LabFolder) -> Result<bool, UserError> {
    let Some(lock) = folder.lock(false)? else { return Ok(!folder.path().exists()) };
    sweep(folder, &lock)?;
    crash::point("swept");
    lock.remove().map_err(|error| {
        crate::response::system(&format!("`{}` cannot be removed", folder.path().display()), &error)
    })?;
    Ok(true)
}

/// Returns the keeper if the folder names one that is alive.
pub(crate) fn keeper(folder: &LabFolder) -> Result<Option<OwnedFd>, UserError> {
    let state = LabState::read(folder.path())?;
    Ok(state.and_then(|state| state.keeper.marked(&state.mark)))
}
