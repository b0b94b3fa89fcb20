//! [`CalibrationMarginDoc`]: how a plan stands to what its host was calibrated at.

use serde::{Deserialize, Serialize};

use crate::Number;

/// What a plan asks for at its highest, beside what its host was calibrated at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CalibrationMarginDoc {
    /// `none`: there is no calibration; `damaged`: its file cannot be read; `stale`: it was made in other circumstances;
    /// `fresh`.
    pub state: String,
    /// Why it is not fresh; empty if it is.
    pub why: String,
    /// When it was made; empty without one.
    pub measured_at: String,
    /// `measured`: beside the target on the same host, as the plan's is; `alone`: derived for load threads on all CPUs;
    /// empty without one.
    pub basis: String,
    /// Each second at the highest.
    pub asked: PerSecondDoc,
    /// Each second, each by itself; all `null` without a calibration.
    pub able: PerSecondDoc,
    /// Which part of this host the plan takes, 0 and above, with what is known of it; `null` without a calibration.
    pub share: Option<Number>,
    /// What to do about it; empty where there is nothing to do.
    pub hint: String,
}

/// So much each second; `null` where that is not known beforehand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PerSecondDoc {
    /// Requests.
    pub requests: Option<Number>,
    /// New connections.
    pub connections: Option<Number>,
    /// TLS handshakes.
    pub handshakes: Option<Number>,
}
