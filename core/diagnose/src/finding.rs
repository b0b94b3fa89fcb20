//! [`Finding`]: one diagnosis, with its evidence and a hint.

use wavetank_record::Blame;
use wavetank_units::Sentence;

use crate::{FindingCode, Fix};

/// One diagnosis, with a cause, evidence and a hint. Only decisive findings belong to the verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is about.
    pub code: FindingCode,
    /// The side that caused it.
    pub blame: Blame,
    /// Whether it is a reason of the verdict; otherwise it is a remark.
    pub decisive: bool,
    /// The finding in one line.
    pub message: Sentence,
    /// The numbers behind it.
    pub evidence: Sentence,
    /// How to fix it; may be empty.
    pub hint: Sentence,
    /// The changes of settings that remove the cause, if there are some.
    pub fix: Vec<Fix>,
}
