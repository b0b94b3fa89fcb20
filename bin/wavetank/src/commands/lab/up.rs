//! `wavetank lab up FILE`.

use std::fmt::Write;
use std::path::Path;

use wavetank_driver::Clock;
use wavetank_lab::{LabSpec, LabStatus, LabTag, LabsFolder};
use wavetank_units::{ExitCode, UserError};

use super::lab_file::LabFile;
use super::preflight::print_warnings;
use super::status;
use crate::output;

/// Brings the file's lab up, under `name` if given, and describes it. Exit 0 when all of it is up.
pub(super) fn up(labs: &LabsFolder, name: Option<&str>, file: &Path) -> Result<u8, UserError> {
    let clock = Clock::starting_now();
    let mut lab = match LabFile::read(file)?.into_lab() {
        Ok(lab) => lab,
        Err(code) => return Ok(code),
    };
    if let Some(name) = name {
        name.clone_into(&mut lab.name);
    }
    let folder = labs.lab(&lab.name)?;
    let order =
        LabSpec { mark: LabTag::generate(&lab.name)?, file: file.display().to_string(), lab, owner: None };
    let (_, warnings) = wavetank_lab::up(&order, &folder)?;
    print_warnings(&warnings);
    let mut text = status::text(&LabStatus::read(&folder)?);
    let host = order.lab.hosts.first().map_or("HOST", |host| host.name.as_str());
    // The only lab needs no name.
    let which = if labs.labs().len() > 1 { format!(" --lab {}", folder.name()) } else { String::new() };
    let took = clock.now();
    let _ = writeln!(
        text,
        "up in {took}; next: wavetank lab exec {host}{which} -- ip address; wavetank lab down{which}"
    );
    output::print(&text)?;
    Ok(ExitCode::Pass as u8)
}
