//! [`RunRequest`] and [`RunOutcome`]: the messages between a search and the caller that executes
//! its runs.

/// A run that the search asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunRequest {
    /// The load.
    pub level: f64,
    /// The purpose of the run.
    pub stage: Stage,
    /// Factor on the usual length: the last run was too short to decide.
    pub stretch: u32,
}

/// The purpose of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Up from the lowest level, until one fails.
    Climb,
    /// The highest level that held, again, where nothing above it can be tried.
    Confirm,
    /// Halving the bracket.
    Narrow,
    /// One of several levels in random order: what the answer is made of.
    Measure,
    /// Repeats the lowest level that passed, because the target no longer answers.
    Check,
}

impl Stage {
    /// The word in the stored form.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Climb => "climb",
            Self::Confirm => "confirm",
            Self::Narrow => "narrow",
            Self::Measure => "measure",
            Self::Check => "check",
        }
    }
}

/// How a run went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    /// It met the thresholds.
    Pass,
    /// It did not, and that was not the generator's doing.
    Fail,
    /// The generator was the limit, so that nothing is known of the target.
    Generator,
    /// Too short or too small to decide.
    Undecided,
}

impl RunOutcome {
    /// The word in the stored form.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Generator => "generator",
            Self::Undecided => "undecided",
        }
    }
}
