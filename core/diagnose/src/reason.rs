//! [`Reason`]: why a verdict is not a pass; [`ReasonCode`]: the names of reasons without a finding.

use std::fmt;

use crate::FindingCode;

/// Why a verdict is not a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    Code(ReasonCode),
    Finding(FindingCode),
    /// The text of a failed condition.
    Condition(String),
}

impl From<ReasonCode> for Reason {
    fn from(code: ReasonCode) -> Self {
        Self::Code(code)
    }
}

impl From<FindingCode> for Reason {
    fn from(code: FindingCode) -> Self {
        Self::Finding(code)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Code(code) => code.as_str(),
            Self::Finding(code) => code.as_str(),
            Self::Condition(text) => text,
        })
    }
}

/// A reason of a verdict without a finding or a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum ReasonCode {
    /// The user interrupted the run.
    Signal,
    /// A request to stop ended the run.
    Stopped,
    /// The record has no end: the run is not over, or was killed.
    Running,
    /// A step failed with `on_failure: stop`.
    OnFailure,
    /// The probe failed.
    Probe,
    /// Intervals or agents are missing.
    Lost,
    /// A threshold has too few values.
    Undecided,
}

impl ReasonCode {
    /// All of them.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The name for scripts, e.g. `on_failure`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
