//! [`LiveDoc`]: the state of a running run at a seal, for programs that watch it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Finding, LoadChangeDoc, Number, Requests, Threshold, Times, VerdictDoc};

/// Version of the format; fields are only ever added to it.
pub const LIVE_SCHEMA: &str = "wavetank.live/1";

/// The state of a run at the latest seal. Every view of a running run is a function of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LiveDoc {
    /// Always [`LIVE_SCHEMA`].
    pub schema: String,
    /// Id of the run.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Process id of its controller.
    pub pid: u32,
    /// The URL, or the names of the targets.
    pub target: String,
    /// The requested load, e.g. `50 connections, 10 s, closed loop`.
    pub load: String,
    /// Folder of its archive; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<String>,
    /// What it does now.
    pub state: LiveState,
    /// The latest seal, in seconds on the run's clock. Negative before the first measured phase.
    pub at_s: Number,
    /// Planned end of the last phase, in seconds on the run's clock; absent if only a count ends
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends_at_s: Option<Number>,
    /// The active phases.
    pub phases: Vec<LivePhase>,
    /// Requests of the judged phases so far.
    pub requests: Requests,
    /// Failed requests by class.
    pub errors: BTreeMap<String, u64>,
    /// Answers by status.
    pub status: BTreeMap<u16, u64>,
    /// complete − intended, of the judged phases so far.
    pub response_us: Times,
    /// The interval that ended at the latest seal.
    pub latest: LiveInterval,
    /// Each step by itself.
    pub steps: Vec<LiveStep>,
    /// Conditions and their results so far.
    pub thresholds: Vec<Threshold>,
    /// Diagnoses so far. They are looked for every few seconds.
    pub findings: Vec<Finding>,
    /// Each agent of a fleet; empty on a single host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<LiveAgent>,
    /// Each sampled host in the latest two samples; empty once the run is over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<LiveHost>,
    /// Of a search: what it has found so far. Everything else is of the run in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<LiveSearch>,
    /// The load was changed while it ran.
    pub modified: bool,
    /// Those changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ChangeDoc>,
    /// The latest events.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<LiveEvent>,
    /// The verdict; absent while the run is running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<VerdictDoc>,
}

impl LiveDoc {
    /// Returns the object as one line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("plain data with string and number keys always encodes")
    }
}

/// What a run does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LiveState {
    /// It prepares: nothing was sent under load.
    #[default]
    Starting,
    /// It sends load.
    Running,
    /// No new work starts; open requests end.
    Draining,
    /// It is over.
    Over,
}

impl LiveState {
    /// The name in JSON and on screens.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Draining => "draining",
            Self::Over => "over",
        }
    }
}

/// An active phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LivePhase {
    /// Its name.
    pub name: String,
    /// Apart from everything that is judged.
    pub warmup: bool,
    /// Planned end, in seconds on the run's clock; absent if only a count ends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends_at_s: Option<Number>,
    /// Sessions per second that the plan asks for now; absent in the closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<Number>,
    /// Users that the plan asks for now; absent in the open loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<u64>,
    /// Connections that the plan holds now; absent in phases that hold none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u64>,
}

/// One sealed interval of the whole run, about a second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LiveInterval {
    /// Length in seconds.
    pub length_s: Number,
    /// Offered per second.
    pub offered_per_s: Number,
    /// Done per second.
    pub done_per_s: Number,
    /// Requests that failed.
    pub failed: u64,
    /// Requests that began after the late tolerance.
    pub late: u64,
    /// Requests that were never sent.
    pub dropped: u64,
    /// Offered and unresolved at its end.
    pub open: u64,
    /// complete − intended.
    pub response_us: Times,
    /// Actual start − intended start.
    pub lag_us: Times,
    /// Virtual users at its end.
    pub users: u64,
    /// Connections open at its end.
    pub connections: u64,
    /// Connections lost since the start of the run.
    pub connections_lost: u64,
    /// Bytes handed to the kernel per second.
    pub sent_bytes_per_s: Number,
    /// Bytes received from the kernel per second.
    pub received_bytes_per_s: Number,
    /// The share of it that the busiest load thread worked, 0 to 1.
    pub busiest_thread: Number,
}

/// One step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LiveStep {
    /// Its scenario's name; empty where there is but one, without a name.
    pub scenario: String,
    /// Its name.
    pub name: String,
    /// Its requests in judged phases so far.
    pub requests: Requests,
    /// complete − intended, in judged phases so far.
    pub response_us: Times,
    /// Done per second in the latest interval.
    pub done_per_s: Number,
}

/// One agent of a fleet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveAgent {
    /// Its name.
    pub name: String,
    /// Its state, e.g. `running`; `lost` if it is silent.
    pub state: String,
}

/// A host between its two latest samples, about a second apart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LiveHost {
    /// Its name: that of an agent, of a lab's host, of `--observe`, or the run's own host.
    pub name: String,
    /// Its latest sample, in seconds on the run's clock.
    pub at_s: Number,
    /// Share of its CPUs that was used, 0 to 1; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Number>,
    /// The same of each CPU.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cores: Vec<Number>,
    /// Bits per second received by its interfaces except the loopback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_bits_per_s: Option<Number>,
    /// Bits per second sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out_bits_per_s: Option<Number>,
    /// TCP sockets in use.
    pub tcp_sockets: u64,
    /// Memory in use, bytes.
    pub memory_used_bytes: u64,
    /// All of its memory, bytes; 0 if unknown.
    pub memory_bytes: u64,
}

/// A search in progress.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LiveSearch {
    /// The varied load: `rate`, `users` or `connections`.
    pub of: String,
    /// The level of the run in progress; absent between two runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Number>,
    /// The purpose of that run, as in `search.json`; empty between two runs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stage: String,
    /// The finished runs, in their order.
    pub runs: Vec<LiveLevel>,
    /// Lower end of the interval so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<Number>,
    /// Upper end of the interval so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<Number>,
}

/// A finished run of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LiveLevel {
    /// Its level.
    pub level: Number,
    /// Its result for the search, as in `search.json`.
    pub result: String,
}

/// A change of the load while it ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeDoc {
    /// When, in seconds on the run's clock.
    pub at_s: Number,
    /// The phase.
    pub phase: String,
    /// The new load.
    pub load: LoadChangeDoc,
}

/// An event of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LiveEvent {
    /// When, in seconds on the run's clock.
    pub at_s: Number,
    /// The event as a sentence.
    pub text: String,
}
