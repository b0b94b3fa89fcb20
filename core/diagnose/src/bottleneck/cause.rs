//! [`Cause`]: a finding of one rule, and how directly its evidence shows it.

use wavetank_units::Sentence;

use crate::{Finding, FindingCode};

/// How directly evidence shows a cause, the most direct first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// A program's log names it.
    Log,
    /// A counter of the kernel or of a program counts exactly this.
    Counter,
    /// It happened with a change that the plan made.
    Change,
    /// Several values agree.
    Pattern,
    /// A limit is near, or the load is uneven.
    Hint,
}

/// A cause.
pub(super) struct Cause {
    pub(super) rank: Rank,
    pub(super) finding: Finding,
    /// Codes of causes that follow from this one.
    pub(super) covers: &'static [FindingCode],
}

/// Joins the pieces of evidence that exist.
pub(super) fn evidence(pieces: impl IntoIterator<Item = Option<Sentence>>) -> Sentence {
    Sentence::join(pieces.into_iter().flatten(), " · ")
}
