//! `wavetank lab exec HOST -- CMD`.

use std::ffi::OsString;

use wavetank_lab::{HostHandle, LabFolder};
use wavetank_units::UserError;

/// Runs the command in the host with the input and output of this process. Returns its exit code.
pub(super) fn exec(folder: &LabFolder, host: &str, words: &[OsString]) -> Result<u8, UserError> {
    HostHandle::to(folder, host)?.run(words)
}
