//! `wavetank schema`.

use wavetank_plan::{ExitCode, UserError};

use crate::run::output;

/// Print the JSON Schema of experiment files. Exit 0.
pub(crate) fn schema() -> Result<u8, UserError> {
    output::print(&wavetank_experiment::schema())?;
    Ok(ExitCode::Pass as u8)
}
