//! [`CompareDoc`]: the `wavetank.compare/1` object, a comparison of two sides of runs.

use wavetank_units::{Sentence, phrase};

use serde::{Deserialize, Serialize};

use crate::{DecodeError, Number};

/// Version of the format; fields are only ever added to it.
pub const COMPARE_SCHEMA: &str = "wavetank.compare/1";

/// A comparison. Every view of it is a function of it alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CompareDoc {
    /// Always [`COMPARE_SCHEMA`].
    pub schema: String,
    /// Version of wavetank.
    pub version: String,
    /// The result.
    pub answer: CompareAnswer,
    /// The exit code that follows.
    pub exit: u8,
    /// Chance of being right everywhere: 0.95.
    pub level: Number,
    /// Seed of what was drawn.
    pub seed: u64,
    /// Samples drawn at each level.
    pub draws: u64,
    /// `--max-regression` as a share; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_regression: Option<Number>,
    /// The baseline side.
    pub a: SideDoc,
    /// The side that is compared with it.
    pub b: SideDoc,
    /// The values, in the order of the output.
    pub metrics: Vec<MetricDoc>,
    /// What could make the comparison unfair.
    pub warnings: Vec<Sentence>,
    /// Additional information.
    pub notes: Vec<Sentence>,
    /// Commands worth trying next.
    pub next: Vec<Sentence>,
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompareAnswer {
    /// A significant difference.
    Difference,
    /// None was found.
    #[default]
    NoDifference,
    /// Undecidable, because each side has only one run.
    Undecided,
    /// A significant regression larger than allowed.
    Regression,
    /// None was found.
    NoRegression,
}

/// One side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SideDoc {
    /// Its runs, as given.
    pub runs: Vec<ComparedRunDoc>,
}

/// One run of a side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ComparedRunDoc {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Wall time of its start, RFC 3339 in UTC.
    pub started_at: String,
    /// Its target.
    pub target: String,
    /// A description of its load.
    pub load: String,
    /// `pass`, `fail`, `invalid` or `incomplete`.
    pub verdict: String,
    /// Length of its measured window in seconds.
    pub duration_s: Number,
    /// Version of wavetank that ran it.
    pub version: String,
}

/// One value of both sides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MetricDoc {
    /// Its name in the syntax of conditions, e.g. `p99(service)`.
    pub name: String,
    /// `us`, `per_s`, `share`, `bytes`, `s` or `bits_per_s`.
    pub unit: String,
    /// `more` or `less`: what is better.
    pub better: String,
    /// Value of side A, over all its runs; `null` if unknown.
    pub a: Option<Number>,
    /// Value of side B.
    pub b: Option<Number>,
    /// B/A; `null` where a side is 0 or not known.
    pub ratio: Option<Number>,
    /// Low end of the ratio's 95 % interval, this value taken by itself.
    pub low: Option<Number>,
    /// High end.
    pub high: Option<Number>,
    /// Where the interval comes from: `runs`, `other_side`, `blocks` or `nothing`.
    pub basis: String,
    /// Probability of such a difference by chance, for this value alone; `null` if the runs do not
    /// allow a test.
    pub p: Option<Number>,
    /// The same, corrected for the number of judged values.
    pub p_corrected: Option<Number>,
    /// Whether it is judged.
    pub judged: bool,
    /// `difference`, `no_difference`, `undecided` or `not_judged`.
    pub verdict: String,
    /// `shown`, `excluded`, `possible` or `undecided`; absent without `max_regression`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regression: Option<String>,
    /// The smallest difference, as a share of A, that would have been shown four times in five.
    pub smallest_seen: Option<Number>,
    /// Least number of runs per side with which a difference of this size would be found four times
    /// in five. `null` if the difference is already significant, or if more than a hundred would be
    /// needed.
    pub runs_needed: Option<u32>,
    /// Length of the blocks that were drawn, seconds, of the run with the longest; 0 without any.
    pub block_s: Number,
    /// Why it is not judged; empty if it is.
    #[serde(default, skip_serializing_if = "Sentence::is_empty")]
    pub why: Sentence,
}

const FEW_ABOVE: Sentence = phrase!("fewer than 10 samples lie above it");
const NOT_ASKED: Sentence = phrase!("not asked for");

impl MetricDoc {
    /// What [`MetricDoc::why`] says of a percentile with fewer than 10 samples above it on a side.
    pub const FEW_ABOVE: Sentence = FEW_ABOVE;

    /// What [`MetricDoc::why`] says of a value that was not asked for where others were.
    pub const NOT_ASKED: Sentence = NOT_ASKED;

    /// Whether another run may well give another value: fewer than 10 samples are above it on a
    /// side.
    pub fn is_uncertain(&self) -> bool {
        self.why == Self::FEW_ABOVE
    }
}

impl CompareDoc {
    /// The object as one line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("plain data with string keys always encodes")
    }

    /// Reads it back. Unknown fields are skipped: the format only grows.
    ///
    /// # Errors
    /// If the text is not a JSON object of this schema.
    pub fn from_json(text: &str) -> Result<Self, DecodeError> {
        let doc: Self = serde_json::from_str(text).map_err(|error| DecodeError::json(&error))?;
        if doc.schema == COMPARE_SCHEMA {
            Ok(doc)
        } else {
            Err(DecodeError::schema(&doc.schema, COMPARE_SCHEMA))
        }
    }
}
