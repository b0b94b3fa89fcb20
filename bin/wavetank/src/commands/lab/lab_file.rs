//! [`LabFile`]: a topology file with the files it names.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use wavetank_grammar::{Diagnostics, render};
use wavetank_topology::{Input, Lab, read};
#[cfg(target_os = "linux")]
use wavetank_units::ExitCode;
use wavetank_units::UserError;
use wavetank_units::quantity::show_size;

#[cfg(target_os = "linux")]
use super::machine_facts::machine_facts;
use crate::run::output::os_error_text;

/// Most bytes read of a topology file, or of a file it names. The parser has limits of its own,
/// none above this, and reports them with a position.
const FILE_MAX: u64 = 8 << 20;

/// A topology file, read and checked.
pub(crate) struct LabFile {
    /// The file's name as given.
    pub(crate) name: String,
    /// The lab; `None` if the file has an error.
    pub(crate) lab: Option<Lab>,
    /// All errors and warnings.
    pub(crate) diagnostics: Diagnostics,
    /// The file's text, which the spans of diagnostics refer to.
    pub(crate) text: String,
}

impl LabFile {
    /// Reads the file and everything it names, for this machine. Errors in them become diagnostics;
    /// fails only if the file itself cannot be read.
    pub(crate) fn read(file: &Path) -> Result<Self, UserError> {
        let name = file.display().to_string();
        let bytes = bytes_of(file).map_err(|why| {
            let hint = "examples/labs has topology files";
            UserError::usage("bad_file", format!("{name}: {why}"), hint)
        })?;
        let folder = file.parent().unwrap_or_else(|| Path::new(""));
        let files = |name: &str| bytes_of(&folder.join(name));
        let mut reading =
            read(&Input { name: &name, bytes: &bytes, files: &files, machine: machine_facts() });
        if let (Some(lab), Ok(folder)) = (&mut reading.lab, std::path::absolute(Path::new(".").join(folder)))
        {
            lab.place_configs(&folder);
        }
        Ok(Self { name, lab: reading.lab, diagnostics: reading.diagnostics, text: reading.text })
    }

    /// Prints all diagnostics as text on stderr.
    pub(crate) fn print_diagnostics(&self) {
        // If stderr is closed, only the exit code is left.
        let _ = std::io::stderr().write_all(render(&self.diagnostics, &self.name, &self.text).as_bytes());
    }

    /// Prints all diagnostics and returns the lab, or the exit code if the file has an error.
    #[cfg(target_os = "linux")]
    pub(crate) fn into_lab(mut self) -> Result<Lab, u8> {
        self.print_diagnostics();
        self.lab.take().ok_or(ExitCode::Usage as u8)
    }
}

/// Returns a file's bytes, or the reason why it cannot be read.
fn bytes_of(path: &Path) -> Result<Vec<u8>, String> {
    let why = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        ErrorKind::PermissionDenied => "it may not be read".to_owned(),
        _ => os_error_text(&error),
    };
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(FILE_MAX + 1).read_to_end(&mut bytes)).map_err(why)?;
    if bytes.len() as u64 > FILE_MAX {
        return Err(format!("it is larger than {}", show_size(FILE_MAX)));
    }
    Ok(bytes)
}

/// Returns no facts: this machine cannot run labs.
#[cfg(not(target_os = "linux"))]
fn machine_facts() -> wavetank_topology::MachineFacts {
    wavetank_topology::MachineFacts::default()
}
