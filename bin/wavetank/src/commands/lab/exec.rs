//! `wavetank lab exec HOST -- CMD`.

use std::ffi::OsString;

use wavetank_lab::{HostHandle, LabFolder};
use wavetank_plan::UserError;

/// Run the command in the host, with our own input and output. Its exit code is ours.
pub(super) fn exec(folder: &LabFolder, host: &str, words: &[OsString]) -> Result<u8, UserError> {
    HostHandle::to(folder, host)?.run(words)
}
