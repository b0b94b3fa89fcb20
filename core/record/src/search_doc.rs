//! [`SearchDoc`]: `search.json`, the `wavetank.search/1` object: a knee, and the runs by which it
//! was found.

use wavetank_units::Sentence;

use serde::{Deserialize, Serialize};

use crate::number_limits::check_number_limits;
use crate::{Blame, DecodeError, Number, RateDoc, Requests, Status, Threshold, Times};

/// Version of the format; fields are only ever added to it.
pub const SEARCH_SCHEMA: &str = "wavetank.search/1";

/// One search, finished or in progress.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchDoc {
    /// Always [`SEARCH_SCHEMA`].
    pub schema: String,
    /// Name of its runs.
    pub name: String,
    /// Its id, unique in a runs directory.
    pub id: String,
    /// Version of wavetank that made it.
    pub version: String,
    /// The command line, secrets as `***`.
    pub command: String,
    /// Seed of the order of levels; runs have the numbers that follow it.
    pub seed: u64,
    /// The URL, or the names of the targets.
    pub target: String,
    /// When it started, RFC 3339 in UTC.
    pub started_at: String,
    /// How long it took, seconds.
    pub took_s: Number,
    /// The varied load: `rate`, `users` or `connections`.
    pub of: String,
    /// Unit of every level: `per_s` or `count`.
    pub unit: String,
    /// How it ended.
    pub answer: SearchAnswerDoc,
    /// The requested thresholds, as written; those that every run has are in `runs`.
    pub thresholds: Vec<String>,
    /// Within which limits it sought.
    pub setup: SearchSetupDoc,
    /// Latency against load: every level that was tried, lowest first.
    pub curve: Vec<SearchPointDoc>,
    /// The runs, in their order.
    pub runs: Vec<SearchRunDoc>,
    /// Circumstances.
    pub notes: Vec<Sentence>,
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchAnswerDoc {
    /// `found`, `above` (even the highest allowed level passes), `below` (even the lowest fails),
    /// `generator` (it was the limit first), or why it ended early: `signal`, `stopped`, `time`,
    /// `runs`, `undecided`, `broken`, `target` (it stopped responding), `unsteady` (it changes with
    /// time), `under_way`.
    pub end: String,
    /// The exit code.
    pub exit: u8,
    /// The first line of every view.
    pub headline: String,
    /// The level at which the chance to meet the thresholds falls below one half. For a lower
    /// bound: the bound. Null: unknown.
    pub knee: Option<Number>,
    /// Lower end of the interval; null: unknown. For a rate: the rate that was certainly done in
    /// time at `low_level`.
    pub low: Option<Number>,
    /// The level that passed and that `low` was derived from. Absent in documents that use the
    /// level itself as `low`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low_level: Option<Number>,
    /// Whether the lower end is proven with `confidence`, and not only the highest level that
    /// passed.
    pub low_proven: bool,
    /// Upper end of the interval; null: unknown.
    pub high: Option<Number>,
    /// Whether the upper end is proven, and not only the lowest level that failed.
    pub high_proven: bool,
    /// Confidence of proven ends.
    pub confidence: Number,
    /// The lowest level at which the generator was the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_at: Option<Number>,
    /// The bottleneck, according to the runs that failed.
    pub blame: Blame,
    /// The condition that failed in most runs just above the knee; empty if none did.
    pub limit: Sentence,
}

/// Within which limits a search sought.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchSetupDoc {
    /// The lowest level.
    pub from: Number,
    /// The highest level allowed.
    pub to: Number,
    /// Factor from one level of the climb to the next.
    pub factor: Number,
    /// Levels inside the bracket.
    pub levels: u32,
    /// Runs of each of them.
    pub repeats: u32,
    /// Their distance, as a share.
    pub step: Number,
    /// Length of a run, seconds, unless longer ones were required.
    pub level_s: Number,
    /// Warm-up ahead of each, seconds.
    pub warmup_s: Number,
    /// Rest after each, seconds.
    pub settle_s: Number,
    /// Bound on the whole search, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_time_s: Option<Number>,
    /// Addition: a quick estimate (`--quick`), which proves nothing; absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quick: bool,
}

/// One level of the curve. Times and rates are those of the run in the middle, by the value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchPointDoc {
    /// The load.
    pub level: Number,
    /// Runs that say something of the target.
    pub runs: u32,
    /// Runs that met the thresholds.
    pub passed: u32,
    /// Runs in which the generator was the limit.
    pub generator: u32,
    /// The fitted chance to meet the thresholds; null for levels outside the random order.
    pub chance: Option<Number>,
    /// Requests done each second.
    pub done_per_s: Number,
    /// Median response time, from the run in the middle; null if that run had none. Runs without
    /// any rank above all others.
    pub p50_us: Option<Number>,
    /// 95 %.
    pub p95_us: Option<Number>,
    /// 99 %.
    pub p99_us: Option<Number>,
    /// 99.9 %.
    pub p99_9_us: Option<Number>,
    /// Names of percentiles (`p50`, `p95`, `p99`, `p99_9`) that dropped requests would have
    /// affected in the run in the middle. They have no value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
}

/// One run of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchRunDoc {
    /// The load.
    pub level: Number,
    /// Its purpose: `climb`, `confirm`, `narrow`, `measure` or `check`.
    pub stage: String,
    /// `pass`, `fail`, `generator` or `undecided`.
    pub result: String,
    /// Why it did not pass, in one line.
    #[serde(default, skip_serializing_if = "Sentence::is_empty")]
    pub why: Sentence,
    /// The run's own verdict.
    pub status: Status,
    /// The bottleneck that it met.
    pub blame: Blame,
    /// Its id.
    pub id: String,
    /// Its archive's folder under `runs/` of the search's; absent where none was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<String>,
    /// When it began, RFC 3339 in UTC.
    pub started_at: String,
    /// Length of its measured window, seconds.
    pub duration_s: Number,
    /// Its requests.
    pub requests: Requests,
    /// Rates over its window.
    pub rate: RateDoc,
    /// complete − intended.
    pub response_us: Times,
    /// complete − sent.
    pub service_us: Times,
    /// Actual start − intended start.
    pub lag_us: Times,
    /// The highest share of an interval that a load thread was busy.
    pub busiest_thread: Number,
    /// Conditions and their results, that of a growing queue among them.
    pub thresholds: Vec<Threshold>,
}

impl SearchDoc {
    /// The object as indented JSON: people open this file.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data with string keys always encodes")
    }

    /// Reads the object. Unknown fields are skipped: the format only grows.
    ///
    /// # Errors
    /// If the text is not a JSON object of this schema, or a number in it is beyond any search.
    pub fn from_json(text: &str) -> Result<Self, DecodeError> {
        let doc: Self =
            serde_json::from_str(text).map_err(|error| DecodeError::json_for(text, SEARCH_SCHEMA, &error))?;
        if doc.schema != SEARCH_SCHEMA {
            return Err(DecodeError::schema(&doc.schema, SEARCH_SCHEMA));
        }
        check_number_limits(text.as_bytes())?;
        Ok(doc)
    }
}
