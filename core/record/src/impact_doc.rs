//! The parts of a [`RunRecord`](crate::RunRecord) about events on hosts while the load ran.

use wavetank_units::Sentence;

use serde::{Deserialize, Serialize};

use crate::Number;

/// One of the plan's events: what was done to a host, and what clients saw of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ImpactDoc {
    /// Index into the plan's events.
    pub event: u16,
    /// The host.
    pub host: String,
    /// The event, as written in the plan.
    pub what: String,
    /// When, in seconds on the run's clock; of one that was not done, when it was planned for.
    pub from_s: Number,
    /// When it was reverted; `null` if it was not.
    pub until_s: Option<Number>,
    /// The outcome.
    pub outcome: ImpactOutcome,
    /// Why it could not be carried out or reverted; empty if there was no problem.
    #[serde(default, skip_serializing_if = "Sentence::is_empty")]
    pub why: Sentence,
    /// Client-side results of the ten seconds before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<ClientWindowDoc>,
    /// Client-side results while it lasted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub during: Option<ClientWindowDoc>,
    /// Client-side results after that, until they had recovered for 3 s, or the load ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<ClientWindowDoc>,
    /// Seconds in which results were worse than before.
    #[serde(default)]
    pub hurt_s: Number,
    /// The recovery of clients.
    #[serde(default)]
    pub recovery: RecoveryDoc,
    /// How long clients took to recover: for `during` since the event was carried out, for `after`
    /// since it was reverted; otherwise `null`.
    #[serde(default)]
    pub recovery_s: Option<Number>,
}

/// The outcome of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImpactOutcome {
    /// The run ended before its planned time.
    #[default]
    NotReached,
    /// It could not be done.
    Failed,
    /// It was carried out and was not to be reverted. Or the run was killed, and the event was
    /// reverted without a record.
    Done,
    /// It was carried out and reverted.
    Undone,
    /// It was carried out and could not be reverted.
    Stuck,
}

/// How clients recovered from an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryDoc {
    /// Unknown: no load came after it.
    #[default]
    Unknown,
    /// Results were never worse than before.
    Unhurt,
    /// Results recovered while the event still lasted.
    During,
    /// Clients recovered only after it had been reverted.
    After,
    /// Results were still worse when the load ended.
    Never,
}

/// Client-side results over a period of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientWindowDoc {
    /// Its length in seconds.
    pub seconds: Number,
    /// Requests offered in it.
    pub offered: u64,
    /// Done.
    pub done: u64,
    /// Done per second.
    pub done_per_s: Number,
    /// Failed.
    pub failed: u64,
    /// Dropped.
    pub dropped: u64,
    /// The share of failed and dropped requests among all that ended.
    pub failed_share: Number,
    /// Connections that ended although the plan still needed them.
    pub lost: u64,
    /// Median of the response time, microseconds; `null` without a sample.
    pub p50_us: Option<Number>,
    /// 99th percentile of the response time, microseconds.
    pub p99_us: Option<Number>,
    /// The slowest, microseconds.
    pub max_us: Option<Number>,
}
