//! [`CalibrationTarget`]: the server that a calibration loads.

use wavetank_plan::TargetUrl;
use wavetank_units::UserError;

/// A server that a calibration loads. Its CPU time and memory must not be those of this process.
pub trait CalibrationTarget: Send {
    /// Where it answers without TLS.
    fn url(&self) -> TargetUrl;

    /// Where it answers with TLS.
    fn tls_url(&self) -> TargetUrl;

    /// Returns what it has counted so far.
    ///
    /// # Errors
    /// If the server has ended.
    fn counts(&mut self) -> Result<TargetCounts, UserError>;
}

/// What a server has counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct TargetCounts {
    /// Requests, with and without TLS.
    pub requests: u64,
    /// Connections without TLS that are open now.
    pub open: u64,
    /// CPU time of its process, in seconds.
    pub cpu_s: f64,
}
