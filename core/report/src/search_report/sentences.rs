//! [`AnswerStrings`]: the sentences of a search's answer, in each language. `headline` chooses
//! between them.

use wavetank_record::Blame;

use super::failed_runs::FailureKind;
use super::observed_levels::LevelRole;

/// The thresholds that had to pass.
pub(super) struct Requirement {
    pub(super) conditions: Vec<String>,
}

/// How both ends of an interval are proven.
#[derive(Clone, Copy)]
pub(super) struct BoundProof {
    pub(super) low: bool,
    pub(super) high: bool,
}

/// Results of the runs: levels in the language with their runs.
pub(super) struct RunEvidence {
    /// The highest level at which every run passed, with most runs passing at each level below.
    pub(super) all: Option<(String, u32)>,
    /// The lowest level from which on no run passed.
    pub(super) none: Option<(String, u32)>,
    /// Passed runs of all levels, and all runs.
    pub(super) runs: (u32, u32),
}

/// See the module's description. Arguments are in the language already.
pub(super) struct AnswerStrings {
    /// A level in its unit, from its English form.
    pub(super) level: fn(&str) -> String,
    /// The requirement, the knee, its interval, the results of the runs.
    pub(super) found: fn(&Requirement, &str, &str, &RunEvidence) -> String,
    /// The requirement, the highest level.
    pub(super) above: fn(&Requirement, &str) -> String,
    /// The requirement, the lowest level.
    pub(super) below: fn(&Requirement, &str) -> String,
    /// The requirement, the highest level that met it, and the level at which the generator was the
    /// limit.
    pub(super) generator: fn(&Requirement, &str, &str) -> String,
    /// The lowest level.
    pub(super) generator_at_once: fn(&str) -> String,
    /// Number of runs with responses, the state so far.
    pub(super) silent: fn(usize, &str) -> String,
    /// Why the search ended early, by the stored code; the state so far.
    pub(super) stopped: fn(&str, &str) -> String,
    /// Both ends of an interval, the confidence, and which ends are proven.
    pub(super) interval: fn([&str; 2], &str, BoundProof) -> String,
    /// Before the answer of a quick estimate.
    pub(super) quick: &'static str,
    /// After a bracket without proof.
    pub(super) not_proven: &'static str,
    pub(super) open_interval: &'static str,
    /// The state so far: the knee is between two levels.
    pub(super) between: fn(&str, &str) -> String,
    /// A level up to which all levels pass.
    pub(super) up_to: fn(&str) -> String,
    /// A level that does not pass.
    pub(super) not_at: fn(&str) -> String,
    /// A level, its passed runs, and all of its runs.
    pub(super) held: fn(&str, u32, u32) -> String,
    pub(super) nothing: &'static str,
    /// The bottleneck.
    pub(super) owner: fn(Blame) -> &'static str,
    /// After the failed threshold: the level at which it failed.
    pub(super) broke_at: fn(&str) -> String,
    /// The role of a level in the answer.
    pub(super) place: fn(LevelRole) -> &'static str,
    /// Between two roles or reasons.
    pub(super) and: &'static str,
    /// Outcome of runs of a level, their number, and the number of runs that count.
    pub(super) fate: fn(FailureKind, usize, usize) -> String,
    /// Number of reasons that are not shown.
    pub(super) more: fn(usize) -> String,
}
