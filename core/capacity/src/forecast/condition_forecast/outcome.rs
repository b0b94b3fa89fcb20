//! [`ConditionForecast`].

/// The forecast of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionForecast {
    /// Nothing prevents it.
    Open,
    /// The plan never reaches the condition: the reason, and a hint.
    Unreachable(String, String),
    /// It will not be decided: the reason, and a hint.
    Undecided(String, String),
    /// It may stay undecided: why, and what to do.
    Doubtful(String, String),
}
