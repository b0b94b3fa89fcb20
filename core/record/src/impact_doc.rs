//! What a [`RunRecord`](crate::RunRecord) tells of what was done to hosts while the load ran.

use serde::{Deserialize, Serialize};

use crate::Number;

/// One of the plan's events: what was done to a host, and what clients saw of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ImpactDoc {
    /// Index into the plan's events.
    pub event: u16,
    /// The host.
    pub host: String,
    /// What was done to it, in the plan's words.
    pub what: String,
    /// When, in seconds on the run's clock; of one that was not done, when it was planned for.
    pub from_s: Number,
    /// When it was taken back; `null` where it was not.
    pub until_s: Option<Number>,
    /// What came of it.
    pub outcome: ImpactOutcome,
    /// Why it could not be done or taken back; empty where it could.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// How clients fared in the ten seconds ahead of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<ClientWindowDoc>,
    /// How they fared while it lasted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub during: Option<ClientWindowDoc>,
    /// How they fared from then on, until it was for 3 s as before, or the load ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<ClientWindowDoc>,
    /// Seconds in which clients fared worse than before.
    #[serde(default)]
    pub hurt_s: Number,
    /// How it ended for clients.
    #[serde(default)]
    pub recovery: RecoveryDoc,
    /// How long it took until clients fared as before: of `during` since it was done, of `after` since it was taken back;
    /// `null` of all others.
    #[serde(default)]
    pub recovery_s: Option<Number>,
}

/// What came of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImpactOutcome {
    /// The run was over before its time came.
    #[default]
    NotReached,
    /// It could not be done.
    Failed,
    /// It was done, and was not to be taken back; or the run was killed, and whoever did it took it back unseen.
    Done,
    /// It was done and taken back.
    Undone,
    /// It was done and could not be taken back.
    Stuck,
}

/// How an event ended for clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryDoc {
    /// Nothing can be told: no load came after it.
    #[default]
    Unknown,
    /// They never fared worse than before.
    Unhurt,
    /// They fared as before while it still lasted.
    During,
    /// They fared as before only after it had been taken back.
    After,
    /// They still fared worse when the load ended.
    Never,
}

/// What clients saw in a stretch of time.
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
    /// The share of failed and dropped in all that came to an end.
    pub failed_share: Number,
    /// Connections that ended although the plan still wanted them.
    pub lost: u64,
    /// Median of the response time, microseconds; `null` without a sample.
    pub p50_us: Option<Number>,
    /// 99th percentile of the response time, microseconds.
    pub p99_us: Option<Number>,
    /// The slowest, microseconds.
    pub max_us: Option<Number>,
}
