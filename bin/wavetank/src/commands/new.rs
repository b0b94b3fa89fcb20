//! `wavetank new FILE`.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

use wavetank_store::os_error_text;
use wavetank_units::{Code, ExitCode, UserError};

use crate::output;

/// Writes a commented example file and prints the next step. An existing file is not overwritten.
/// Exit 0.
pub(crate) fn new(file: &Path) -> Result<u8, UserError> {
    let shown = file.display();
    let opened = OpenOptions::new().write(true).create_new(true).open(file);
    let written = opened.and_then(|mut opened| opened.write_all(wavetank_experiment::starter().as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => UserError::usage(
            Code::FileExists,
            format!("`{shown}` already exists"),
            "use another name, or remove the file first",
        ),
        _ => UserError::usage(
            Code::OutUnwritable,
            format!("cannot write `{shown}`: {}", os_error_text(&error)),
            "name a file in a folder that exists and can be written",
        ),
    })?;
    output::print(&format!("{shown}: edit it, then: wavetank check {shown}\n"))?;
    Ok(ExitCode::Pass as u8)
}
