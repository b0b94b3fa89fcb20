//! Conclusions: verdict, thresholds, findings, notes. The decisions are made in `core/diagnose`.

use wavetank_units::Sentence;

use serde::{Deserialize, Serialize};

use crate::Number;

/// The outcome of a run (`docs/measuring.md` §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Everything passed.
    Pass,
    /// A threshold or check failed, or a stop condition fired.
    Fail,
    /// Doubt about the generator or the path could turn the verdict.
    Invalid,
    /// Something is missing.
    #[default]
    Incomplete,
}

impl Status {
    /// The word as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Invalid => "invalid",
            Self::Incomplete => "incomplete",
        }
    }
}

/// Which side set the limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Blame {
    /// No limit was reached.
    None,
    /// This side.
    Generator,
    /// The network between them.
    Network,
    /// The balancer.
    Balancer,
    /// The target.
    Target,
    /// Unknown.
    #[default]
    Unknown,
}

impl Blame {
    /// The word as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Generator => "generator",
            Self::Network => "network",
            Self::Balancer => "balancer",
            Self::Target => "target",
            Self::Unknown => "unknown",
        }
    }
}

/// The verdict of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictDoc {
    /// The outcome.
    pub status: Status,
    /// The reasons, most important first: a keyword such as `signal`, `accounting`, `undecided`,
    /// the code of a finding, or the text of a failed condition; empty for a pass.
    pub reasons: Vec<String>,
    /// Which side set the limit.
    pub blame: Blame,
    /// Addition: the headline after the verdict in the first line of every view; empty for a plain
    /// pass.
    #[serde(default)]
    pub headline: Sentence,
    /// Addition: the exit code.
    #[serde(default)]
    pub exit: u8,
}

/// One condition and its result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    /// The condition as written.
    pub expr: String,
    /// The measured value: a time in µs, a rate per second, a share (0.01 = 1 %) or a count; null
    /// without a sample.
    pub value: Option<Number>,
    /// Passed, failed, or undecided (null).
    pub ok: Option<bool>,
    /// Added by wavetank, not by the user.
    pub implicit: bool,
    /// Addition: `us`, `per_s`, `share`, `count`, `bytes` or `bits_per_s`: the unit of `value`.
    #[serde(default)]
    pub unit: String,
    /// Addition: why it is undecided or failed, if the value does not show it.
    #[serde(default, skip_serializing_if = "Sentence::is_empty")]
    pub why: Sentence,
}

/// One diagnosis.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable short name, e.g. `late`.
    pub code: String,
    /// Which side caused it.
    pub blame: Blame,
    /// It turned the verdict, or is its reason.
    #[serde(default)]
    pub decisive: bool,
    /// The finding, in one line without a period.
    pub message: Sentence,
    /// The numbers behind it.
    #[serde(default)]
    pub evidence: Sentence,
    /// What to do about it; may be empty.
    #[serde(default)]
    pub hint: Sentence,
    /// Addition: how directly the evidence shows it: `high` if a log or a counter names exactly
    /// this, `medium` if several values agree, `low` for a hint. Empty in earlier records.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub confidence: String,
    /// Addition: changes of settings that remove the cause.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fix: Vec<FixDoc>,
}

/// One change of one setting that removes the cause of a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixDoc {
    /// The fix in one line.
    pub text: String,
    /// The host on which it is made.
    pub host: String,
    /// What is configured: `sysctl`, `nginx`, `haproxy`, `systemd` or `link`.
    pub configured: String,
    /// Its block or section, the unit, or the interface; empty for the top level of a file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub section: String,
    /// `set`, `parameter`, `remove` or `remove_parameter`.
    pub action: String,
    /// The directive.
    pub directive: String,
    /// Its value or parameter.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
}
