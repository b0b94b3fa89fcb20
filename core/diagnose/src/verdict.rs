//! [`Verdict`] and [`Diagnosis`]: the result of a run.

use wavetank_record::{Blame, Status};
use wavetank_units::{ExitCode, Sentence};

use crate::Finding;

/// The verdict as it is stored in a run's JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// How the run is judged.
    pub status: Status,
    /// The reasons, most important first: a keyword (`signal`, `accounting`, `undecided`, `before`,
    /// `probe`, …), the code of a finding, or the text of a failed condition. Empty for a pass.
    pub reasons: Vec<String>,
    /// The side that set the limit.
    pub blame: Blame,
}

/// Everything this crate has to say about a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnosis {
    /// The verdict.
    pub verdict: Verdict,
    /// How the process ends.
    pub exit: ExitCode,
    /// The text after the verdict's name in the first line, e.g. `p99 312 ms, not < 250ms`, or
    /// `the generator was the limit: this rate is a lower bound`. Empty for a plain pass.
    pub headline: Sentence,
    /// Findings, decisive ones first.
    pub findings: Vec<Finding>,
    /// Circumstances; never change it.
    pub notes: Vec<Sentence>,
    /// Why the load ended before its plan did, or is not known to its end. `None` if it ran to its
    /// end, or never started.
    pub cut_short: Option<Sentence>,
}
