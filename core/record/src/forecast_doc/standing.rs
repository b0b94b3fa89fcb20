//! [`CalibrationMarginDoc`]: a plan compared with the calibration of its host.

use serde::Serialize;

use crate::Number;

/// A plan's peak demand compared with the calibration of its host.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CalibrationMarginDoc {
    /// `none`: there is no calibration. `damaged`: its file cannot be read. `stale`: it was made in
    /// other circumstances. `fresh`.
    pub state: String,
    /// Why it is not fresh; empty if it is.
    pub why: String,
    /// When it was made; empty without one.
    pub measured_at: String,
    /// `measured`: with the target on the same host, as in the plan. `alone`: derived for load
    /// threads on all CPUs. Empty without a calibration.
    pub basis: String,
    /// Each second at the highest.
    pub asked: PerSecondDoc,
    /// Each second, each by itself; all `null` without a calibration.
    pub able: PerSecondDoc,
    /// The share of this host's capacity that the plan uses, 0 and above, from what is known of it;
    /// `null` without a calibration.
    pub share: Option<Number>,
    /// What to do about it; empty where there is nothing to do.
    pub hint: String,
}

/// Rates per second; `null` if not known beforehand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PerSecondDoc {
    /// Requests.
    pub requests: Option<Number>,
    /// New connections.
    pub connections: Option<Number>,
    /// TLS handshakes.
    pub handshakes: Option<Number>,
}
