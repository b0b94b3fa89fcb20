//! `wavetank man DIR`.

use std::path::Path;

use wavetank_store::os_error_text;
use wavetank_units::{Code, ExitCode, UserError};

use crate::cli;
use crate::output;

/// Writes every page to `dir`, which is created if it does not exist, and prints the file names.
/// Exit 0.
pub(crate) fn man(dir: &Path) -> Result<u8, UserError> {
    let unwritable = |path: &Path, error: &std::io::Error| {
        let message = format!("cannot write `{}`: {}", path.display(), os_error_text(error));
        UserError::usage(Code::OutUnwritable, message, "name a folder in which you may write")
    };
    std::fs::create_dir_all(dir).map_err(|error| unwritable(dir, &error))?;
    for (name, text) in cli::man_pages() {
        let file = dir.join(name);
        std::fs::write(&file, text).map_err(|error| unwritable(&file, &error))?;
        output::print(&format!("{}\n", file.display()))?;
    }
    Ok(ExitCode::Pass as u8)
}
