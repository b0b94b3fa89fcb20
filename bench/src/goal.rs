//! [`Goal`]: what a ratio must be, and [`Score`]: the result.

use std::fmt;

/// Condition on our cost per request relative to the best peer's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Goal {
    /// Our cost ÷ the peer's, at most.
    Cost(f64),
    /// Our work per CPU second ÷ the peer's, at least.
    Work(f64),
    /// Only printed.
    None,
}

impl Goal {
    /// Returns the ratio that this goal limits.
    pub(crate) fn ratio(self, our_cost: f64, peer_cost: f64) -> f64 {
        match self {
            Self::Cost(_) => our_cost / peer_cost,
            Self::Work(_) | Self::None => peer_cost / our_cost,
        }
    }

    /// Returns whether `ratio` meets the goal, or `None` if there is no goal.
    pub(crate) fn met(self, ratio: f64) -> Option<bool> {
        match self {
            Self::Cost(most) => Some(ratio <= most),
            Self::Work(least) => Some(ratio >= least),
            Self::None => None,
        }
    }

    /// Returns the name of the ratio, for work that is counted in `unit`s.
    pub(crate) fn what(self, unit: &str) -> String {
        match self {
            Self::Cost(_) => format!("CPU per {unit}"),
            Self::Work(_) | Self::None => format!("{unit}s per CPU second"),
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cost(most) => write!(f, "≤ {most:.2} ×"),
            Self::Work(least) => write!(f, "≥ {least:.2} ×"),
            Self::None => write!(f, "none"),
        }
    }
}

/// Whether a number meets its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GoalStatus {
    Met,
    Missed,
    /// In a smoke run, or without a target.
    NotJudged,
    /// Nothing could be measured, since every round is void or a program failed.
    Broken,
}

impl GoalStatus {
    /// Returns whether it makes the whole invocation fail.
    pub(crate) fn is_bad(self) -> bool {
        matches!(self, Self::Missed | Self::Broken)
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "MISSED",
            Self::NotJudged => "not judged",
            Self::Broken => "BROKEN",
        }
    }
}

/// A number and its target.
#[derive(Clone, Debug)]
pub(crate) struct Score {
    /// Name of the number.
    pub(crate) number: String,
    pub(crate) target: String,
    pub(crate) measured: String,
    pub(crate) standing: GoalStatus,
}

impl Score {
    /// Returns the line of the summary.
    pub(crate) fn line(&self) -> String {
        let Self { number, target, measured, standing } = self;
        format!("{:<10} {number}: {measured}, target {target}", standing.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_looks_at_its_own_ratio() {
        let check = |goal: Goal, ours, peer, expected| {
            assert_eq!(goal.met(goal.ratio(ours, peer)), expected, "{goal}");
        };
        check(Goal::Cost(0.6), 6.0, 10.0, Some(true));
        check(Goal::Cost(0.6), 6.1, 10.0, Some(false));
        check(Goal::Work(1.2), 10.0, 12.0, Some(true));
        check(Goal::Work(1.2), 10.0, 11.0, Some(false));
        check(Goal::None, 10.0, 11.0, None);
    }
}
