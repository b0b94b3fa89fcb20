//! `wavetank man DIR`.

use std::path::Path;

use wavetank_plan::{ExitCode, UserError};

use crate::cli;
use crate::run::output;

/// Writes every page to `dir` and prints the file names. Exit 0.
pub(crate) fn man(dir: &Path) -> Result<u8, UserError> {
    for (name, text) in cli::man_pages() {
        let file = dir.join(name);
        std::fs::write(&file, text).map_err(|error| {
            UserError::usage(
                "out_unwritable",
                format!("cannot write `{}`: {}", file.display(), output::os_error_text(&error)),
                "name a folder that exists and can be written",
            )
        })?;
        output::print(&format!("{}\n", file.display()))?;
    }
    Ok(ExitCode::Pass as u8)
}
