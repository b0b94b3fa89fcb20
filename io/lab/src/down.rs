//! [`down`]: a lab taken down, whatever state it is in.

use std::os::fd::OwnedFd;
use std::time::Duration;

use serde_json::json;
use wavetank_driver::Clock;
use wavetank_plan::{Nanos, UserError};

use crate::cleanup::{pause, sweep};
use crate::client::Client;
use crate::{LabFolder, LabState, crash, tagged_process};

/// How long a keeper may take to end its lab before it is killed: the kernel ends the lab then.
const KEEPER_MAX: Duration = Duration::from_secs(10);

/// How long somebody else may hold the folder of a lab that has no keeper any more.
const HELD_MAX: Nanos = Nanos(5_000_000_000);

/// Keepers that are ended one after the other: somebody may bring the lab up again meanwhile.
const KEEPERS_MAX: u32 = 3;

/// Time between two looks at who holds it.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Takes the lab in `folder` down: by its keeper in an orderly way, without one by clearing away what is left. When it
/// returns, nothing of the lab is there.
///
/// # Errors
/// Rights that are missing, processes that do not end, or somebody else at work on the lab; what is left then is for
/// another `down`.
pub fn down(folder: &LabFolder) -> Result<(), UserError> {
    crate::up::privileged()?;
    let (mut clock, mut ended) = (Clock::starting_now(), 0);
    while !clear_leftovers(folder)? {
        match keeper(folder)? {
            Some(keeper) if ended < KEEPERS_MAX => {
                end(folder, &keeper)?;
                (clock, ended) = (Clock::starting_now(), ended + 1);
            }
            _ if clock.now() > HELD_MAX => {
                let message = format!("somebody else is at work on lab `{}`", folder.name());
                return Err(UserError::refused("lab_held", message, "wavetank lab status; try again"));
            }
            // Whoever holds the folder gives it back by ending, or says who he is: the keeper of a lab that only begins.
            _ => pause(LOOK_AGAIN),
        }
    }
    Ok(())
}

/// Has the keeper end its lab, and ends the keeper if it does not.
fn end(folder: &LabFolder, keeper: &OwnedFd) -> Result<(), UserError> {
    let clock = Clock::starting_now();
    match Client::connect(folder) {
        Ok(mut client) => {
            client.set_read_timeout(KEEPER_MAX)?;
            // An error here is the keeper's, whose end is waited for below whatever it says; what it could not take away is
            // tried again then.
            let _ = client.request(&json!({ "ask": "down" }));
            crash::point("asked");
        }
        // It is only raising the lab: whoever waits for that is told.
        Err(_) => tagged_process::kill(keeper),
    }
    // One that said nothing for all of its time has had it.
    let left = KEEPER_MAX.saturating_sub(Duration::from_nanos(clock.now().0.unsigned_abs()));
    if !tagged_process::ended(keeper, left) {
        tagged_process::kill(keeper);
    }
    Ok(())
}

/// Clears away what is left if nobody holds it; false if somebody does.
pub(crate) fn clear_leftovers(folder: &LabFolder) -> Result<bool, UserError> {
    let Some(lock) = folder.lock(false)? else { return Ok(!folder.path().exists()) };
    sweep(folder, &lock)?;
    crash::point("swept");
    lock.remove().map_err(|error| {
        crate::response::system(&format!("`{}` cannot be removed", folder.path().display()), &error)
    })?;
    Ok(true)
}

/// The keeper, if the folder tells of one that lives.
fn keeper(folder: &LabFolder) -> Result<Option<OwnedFd>, UserError> {
    let state = LabState::read(folder.path())?;
    Ok(state.and_then(|state| state.keeper.marked(&state.mark)))
}
