//! `wavetank completions SHELL`.

use clap_complete::Shell;
use wavetank_units::{ExitCode, UserError};

use crate::cli;
use crate::output;

/// Prints the script. Exit 0.
pub(crate) fn completions(shell: Shell) -> Result<u8, UserError> {
    output::print(&cli::completions(shell))?;
    Ok(ExitCode::Pass as u8)
}
