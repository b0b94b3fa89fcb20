//! [`LabFile`]: a topology file with the files it names.

use std::io::Write;
use std::path::Path;

use wavetank_grammar::{Diagnostics, render};
use wavetank_topology::{Input, Lab, read};
#[cfg(target_os = "linux")]
use wavetank_units::ExitCode;
use wavetank_units::{Code, UserError};

#[cfg(target_os = "linux")]
use super::machine_facts::machine_facts;
use crate::commands::bounded_file::read_bounded;

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
        let bytes = read_bounded(file).map_err(|why| {
            let hint = "examples/labs has topology files";
            UserError::usage(Code::BadFile, format!("{name}: {why}"), hint)
        })?;
        let folder = file.parent().unwrap_or_else(|| Path::new(""));
        let files = |name: &str| read_bounded(&folder.join(name));
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

/// Returns no facts: this machine cannot run labs.
#[cfg(not(target_os = "linux"))]
fn machine_facts() -> wavetank_topology::MachineFacts {
    wavetank_topology::MachineFacts::default()
}
