//! [`RunSurroundings`]: what a run has in addition to its load.

use wavetank_metrics::OpenOutputs;
use wavetank_runner::PlannedLab;

use super::baseline::Baseline;

/// What a run has in addition to its load.
pub(super) struct RunSurroundings<'a> {
    /// Runs to compare the finished run with.
    pub(super) baseline: Option<Baseline>,
    /// The lab with the hosts that send the load.
    pub(super) lab: Option<PlannedLab<'a>>,
    /// Where metrics go.
    pub(super) metrics: OpenOutputs,
}
