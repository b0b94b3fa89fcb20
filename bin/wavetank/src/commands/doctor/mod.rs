//! `wavetank doctor`: judges files and hosts, changes this host and restores it. Files are judged
//! on every system; everything else needs Linux.

#[cfg(target_os = "linux")]
mod fix;
#[cfg(target_os = "linux")]
mod host;
mod lint;
#[cfg(target_os = "linux")]
mod remote;
#[cfg(target_os = "linux")]
mod table;
#[cfg(target_os = "linux")]
mod undo;

use wavetank_units::UserError;

use crate::cli::{DoctorArgs, DoctorCommand};

/// Judges files or hosts. Exit 0 if there is nothing to say, 1 with findings.
pub(crate) fn doctor(args: DoctorArgs) -> Result<u8, UserError> {
    let DoctorArgs { command, all, format, root } = args;
    match command {
        DoctorCommand::Lint { files, kind, kernel } => {
            lint::lint(&lint::LintRequest { files: &files, kind, kernel, all, format, root: &root })
        }
        #[cfg(target_os = "linux")]
        DoctorCommand::Undo => undo::undo(&root, format),
        #[cfg(target_os = "linux")]
        DoctorCommand::Check(check) => host::check(*check, all, format, &root),
        #[cfg(not(target_os = "linux"))]
        _ => Err(super::unsupported_os::doctor()),
    }
}
