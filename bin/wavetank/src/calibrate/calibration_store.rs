//! Stores calibrations and compares plans with them.

use std::path::PathBuf;

use wavetank_driver::WallClock;
use wavetank_plan::{HostFacts, Plan};
use wavetank_record::CalibrationMarginDoc;
use wavetank_report::{CalibrationLookup, calibration_margin, overload};
use wavetank_store::CalibrationFile;
use wavetank_units::{Code, UserError};

/// The file at `out`, or in the usual place. Fails where the environment names no place.
pub(crate) fn calibration_file(out: Option<PathBuf>) -> Result<CalibrationFile, UserError> {
    let path = out.or_else(usual).ok_or_else(|| {
        let message = "cannot store calibrations: XDG_STATE_HOME and HOME are not set";
        UserError::usage(Code::NoStateFolder, message, "--out FILE")
    })?;
    Ok(CalibrationFile::new(path))
}

/// `$XDG_STATE_HOME/wavetank/calibration.json`, else in `~/.local/state` (XDG Base Directory
/// Specification 0.8: a relative path counts as unset).
fn usual() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("wavetank/calibration.json"))
}

/// Returns a warning for a plan that exceeds what this host was measured to do.
pub(crate) fn plan_overload(plan: &Plan, host: &HostFacts) -> Option<String> {
    if host.is_fleet() {
        return None;
    }
    // Most hosts were never calibrated. Nothing is computed for them.
    calibration_file(None).ok()?.path().exists().then(|| overload(&calibrated_load(plan, host))).flatten()
}

/// Compares `plan` with the calibration of this host. Never fails: what cannot be read is reported
/// in the result.
pub(crate) fn calibrated_load(plan: &Plan, host: &HostFacts) -> CalibrationMarginDoc {
    let read = match calibration_file(None) {
        Ok(file) => file.read(),
        // Then nothing was ever stored.
        Err(_) => Ok(None),
    };
    let now_s = WallClock::unix_ns().unsigned_abs() / 1_000_000_000;
    let known = match &read {
        Ok(None) => CalibrationLookup::Nothing,
        Ok(Some(doc)) => CalibrationLookup::Of(doc),
        Err(error) => CalibrationLookup::Damaged(&error.message),
    };
    calibration_margin((plan, host), known, env!("CARGO_PKG_VERSION"), now_s)
}
