//! `wavetank lab down`.

use wavetank_driver::Clock;
use wavetank_lab::LabFolder;
use wavetank_units::{ExitCode, UserError};

use crate::output;

/// Removes the lab, or what remains of one that was killed. Exit 0 when all of it is gone.
pub(super) fn down(folder: &LabFolder) -> Result<u8, UserError> {
    let clock = Clock::starting_now();
    wavetank_lab::down(folder)?;
    output::print(&format!("lab {} is down, in {}\n", folder.name(), clock.now()))?;
    Ok(ExitCode::Pass as u8)
}
