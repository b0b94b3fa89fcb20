//! [`AnswerStrings`]: the sentences of a search's answer, in each language. Which of them is said is in `headline`.

use wavetank_record::Blame;

use super::failed_runs::FailureKind;
use super::observed_levels::LevelRole;

/// What had to hold.
pub(super) struct Requirement {
    pub(super) conditions: Vec<String>,
}

/// How both ends of an interval are proven.
#[derive(Clone, Copy)]
pub(super) struct BoundProof {
    pub(super) low: bool,
    pub(super) high: bool,
}

/// What runs showed: levels in the language with their runs.
pub(super) struct RunEvidence {
    /// The highest level at which every run held, with most of them holding at each level below.
    pub(super) all: Option<(String, u32)>,
    /// The lowest level from which on no run held.
    pub(super) none: Option<(String, u32)>,
    /// Runs of all levels that held, and runs.
    pub(super) runs: (u32, u32),
}

/// See the module's description. What is handed over is in the language already.
pub(super) struct AnswerStrings {
    /// A level in its unit, from how it is written in English.
    pub(super) level: fn(&str) -> String,
    /// What had to hold, the knee, its interval, what runs showed.
    pub(super) found: fn(&Requirement, &str, &str, &RunEvidence) -> String,
    /// What had to hold, the highest level.
    pub(super) above: fn(&Requirement, &str) -> String,
    /// What had to hold, the lowest level.
    pub(super) below: fn(&Requirement, &str) -> String,
    /// What had to hold, the highest level at which it did, the one at which the generator was the limit.
    pub(super) generator: fn(&Requirement, &str, &str) -> String,
    /// The lowest level.
    pub(super) generator_at_once: fn(&str) -> String,
    /// Runs that were answered, what is known so far.
    pub(super) silent: fn(usize, &str) -> String,
    /// Why it ended before its time, by the stored word; what is known so far.
    pub(super) stopped: fn(&str, &str) -> String,
    /// Both ends of an interval, the confidence, and what of it is proven.
    pub(super) interval: fn([&str; 2], &str, BoundProof) -> String,
    pub(super) open_interval: &'static str,
    /// What is known so far: the knee lies between two levels.
    pub(super) between: fn(&str, &str) -> String,
    /// A level up to which all hold.
    pub(super) up_to: fn(&str) -> String,
    /// A level that does not hold.
    pub(super) not_at: fn(&str) -> String,
    /// A level, how often it held, and in how many runs.
    pub(super) held: fn(&str, u32, u32) -> String,
    pub(super) nothing: &'static str,
    /// Whose limit it was.
    pub(super) whose: fn(Blame) -> &'static str,
    /// Behind what broke: the level at which it did.
    pub(super) broke_at: fn(&str) -> String,
    /// What a level is to the answer.
    pub(super) place: fn(LevelRole) -> &'static str,
    /// Between two of those.
    pub(super) and: &'static str,
    /// What became of runs of a level, how many they are, and of how many that count.
    pub(super) fate: fn(FailureKind, usize, usize) -> String,
    /// Reasons that are not told.
    pub(super) more: fn(usize) -> String,
}
