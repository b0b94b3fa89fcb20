//! `wavetank lab down`.

use wavetank_driver::Clock;
use wavetank_lab::LabFolder;
use wavetank_plan::{ExitCode, UserError};

use crate::run::output;

/// Take the lab down, or clear away what a killed one left. Exit 0 when nothing of it is there.
pub(super) fn down(folder: &LabFolder) -> Result<u8, UserError> {
    let clock = Clock::starting_now();
    wavetank_lab::down(folder)?;
    output::print(&format!("lab {} is down, in {}\n", folder.name(), clock.now()))?;
    Ok(ExitCode::Pass as u8)
}
