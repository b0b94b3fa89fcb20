//! [`CustomKind`]: single values that occur only in experiments.

use serde_json::{Value as Shape, json};
use wavetank_grammar::json_schema_values::{COUNT, DURATION, list, number_or, pattern_or_variable, text};

use super::MapName;

const RATE: &str = r"\d+(\.\d+)?[kMG]?/(s|min|h)";
const REQUEST_RATE: &str = r"\d+(\.\d+)?[kMG]?( (requests|sessions))?/(s|min|h)";

/// The kinds of value that occur in experiments but in no other file.
pub(crate) enum CustomKind {
    /// Text with templates (`${…}`).
    Template,
    /// A rate: `500/s`.
    Rate,
    /// A count, or a range `A to B` of counts.
    CountRange,
    /// A rate, or a range `A to B` of rates.
    RateRange,
    /// The height of a stair: a count or a rate.
    CountOrRate,
    /// `15k`, or `1 each`.
    Sessions,
    /// `5k/s for 10s every 1m`.
    Spike,
    /// A URL.
    Url,
    /// Statuses: `200 to 399`.
    Statuses,
    /// A condition on the run.
    Condition,
    /// A condition on one response.
    Check,
    /// A think time.
    Think,
    /// A part of a response.
    Part,
    /// A kind and its credentials: `basic USER:PASSWORD`.
    Auth,
    /// Any value, with templates inside.
    Value,
    /// A list of steps.
    Steps,
}

impl wavetank_grammar::CustomKind for CustomKind {
    fn takes(&self) -> &'static str {
        match self {
            Self::Template => "text with templates",
            Self::Rate => "a rate",
            Self::CountRange => "a count, or A to B",
            Self::RateRange => "a rate, or A to B",
            Self::CountOrRate => "a count or rate",
            Self::Sessions => "a count, or N each",
            Self::Spike => "RATE for DURATION every DURATION",
            Self::Url => "a URL",
            Self::Statuses => "statuses",
            Self::Condition => "a condition on the run",
            Self::Check => "a condition on the response",
            Self::Think => "a think time",
            Self::Part => "a part of the response",
            Self::Auth => "kind and credentials",
            Self::Value => "any value",
            Self::Steps => "steps",
        }
    }

    fn shape(&self) -> Shape {
        match self {
            Self::Template => text(),
            Self::Rate => pattern_or_variable::<MapName>(RATE),
            Self::CountRange => number_or::<MapName>(&format!("{COUNT}( to {COUNT})?")),
            Self::RateRange => {
                pattern_or_variable::<MapName>(&format!("{REQUEST_RATE}( to {REQUEST_RATE})?"))
            }
            Self::CountOrRate => number_or::<MapName>(&format!("({COUNT}|{RATE})")),
            Self::Sessions => number_or::<MapName>(&format!("{COUNT}( each)?")),
            Self::Spike => pattern_or_variable::<MapName>(&format!("{RATE} for {DURATION}every {DURATION}")),
            Self::Url => pattern_or_variable::<MapName>("(https?|wss?|sses?|tcp|tls|udp|grpcs?)://.+"),
            Self::Statuses => json!({"type": ["integer", "string"]}),
            Self::Condition | Self::Check | Self::Part | Self::Auth => json!({"type": "string"}),
            Self::Think => pattern_or_variable::<MapName>(&format!(
                "({DURATION}(to {DURATION})?|exponential {DURATION}|normal {DURATION}(\\+-|±) {DURATION}|lognormal {DURATION}p95 {DURATION})"
            )),
            Self::Value => json!({}),
            Self::Steps => list::<MapName>(&json!({"$ref": "#/$defs/step"})),
        }
    }

    fn may_be_nothing(&self) -> bool {
        matches!(self, Self::Value)
    }
}
