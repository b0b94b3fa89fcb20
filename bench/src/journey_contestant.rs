//! [`JourneyContestant`]: a generator in the comparison of journeys.

use anyhow::Result;

use crate::claims::ReportedResult;
use crate::meter::Used;

/// Requests of a session.
pub(crate) const STEPS: u64 = 5;
/// Text that the first response of a session must contain.
pub(crate) const WANTED: &str = "page of the shop";
/// Reads the reported counts from the output of a generator.
pub(crate) type CountReader = Box<dyn Fn(&Used) -> Result<ReportedResult>>;

/// A generator and its command for the journey.
pub(crate) struct JourneyContestant {
    pub(crate) name: &'static str,
    pub(crate) words: Vec<String>,
    /// Exit codes other than 0 that are not errors.
    pub(crate) fine: &'static [i32],
    /// Reads the reported counts of requests answered and sent from its output.
    pub(crate) claim: CountReader,
    /// Cost of an almost empty run, in µs and in cycles.
    pub(crate) start: (f64, f64),
}
