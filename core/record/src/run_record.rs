//! [`RunRecord`]: `run.json`, the `wavetank.run/1` object. Every view of a run is a function of it
//! alone.

use wavetank_units::Sentence;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::number_limits::check_number_limits;
use crate::{
    Bytes, ChangeDoc, CheckDoc, Connections, CutShortDoc, EventLine, Finding, FleetDoc, Generator, GroupDoc,
    HoldDoc, HookDoc, HostUseDoc, ImpactDoc, LoadDoc, Messages, NearestLimitDoc, Number, Packets, PhaseDoc,
    Pings, Probe, RateDoc, RendezvousDoc, Requests, SampleLine, ServerCountDoc, Sessions, Setup, StepDoc,
    Threshold, Times, TlsDoc, VerdictDoc, Warmup, Wire,
};

/// Version of the format; fields are only ever added to it.
pub const RUN_SCHEMA: &str = "wavetank.run/1";

/// One finished run, or a killed one reconstructed from its archive (`docs/measuring.md` §8). Keys
/// are in the documented order; the fields after `notes` are additions to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Always [`RUN_SCHEMA`].
    pub schema: String,
    /// Addition: what this run rehearses, and how it differs from that; absent if it is the real
    /// run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rehearsal: Option<Sentence>,
    /// Name of the run.
    pub name: String,
    /// Its id, unique in a runs directory.
    pub id: String,
    /// Version of wavetank that ran it.
    pub version: String,
    /// The command line, secrets as `***`.
    pub command: String,
    /// Seed of every random choice.
    pub seed: u64,
    /// SHA-256 of plan.yaml, in hex.
    pub plan_hash: String,
    /// Wall time of instant 0, RFC 3339 in UTC.
    pub started_at: String,
    /// Length of the measured window in seconds.
    pub duration_s: Number,
    /// Addition: how the load ended before its plan did; absent if it ran to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<CutShortDoc>,
    /// The verdict.
    pub verdict: VerdictDoc,
    /// Requests of the judged phases.
    pub requests: Requests,
    /// Dropped requests by reason; only reasons that occurred.
    pub dropped_by: BTreeMap<String, u64>,
    /// Rates over the measured window.
    pub rate: RateDoc,
    /// Failed requests by class; only classes that occurred.
    pub errors: BTreeMap<String, u64>,
    /// Answers by status; only those that occurred.
    pub status: BTreeMap<u16, u64>,
    /// Requests on the wire.
    pub wire: Wire,
    /// Sessions of the judged phases.
    pub sessions: Sessions,
    /// Addition: sessions of the judged phases that never started, by reason; absent if all of them
    /// started. The reasons are those of `dropped_by`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sessions_dropped_by: BTreeMap<String, u64>,
    /// Connections.
    pub connections: Connections,
    /// Addition: connections that could not be opened, by class; only classes that occurred.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub connections_failed_by: BTreeMap<String, u64>,
    /// Addition: connections that ended although the plan still needed them, by class; only classes
    /// that occurred.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub connections_lost_by: BTreeMap<String, u64>,
    /// Traffic of connections under load.
    pub bytes: Bytes,
    /// Addition: packets of QUIC connections under load; absent without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<Packets>,
    /// complete − intended.
    pub response_us: Times,
    /// complete − sent.
    pub service_us: Times,
    /// Actual start − intended start.
    pub lag_us: Times,
    /// Sent − actual start.
    pub wait_us: Times,
    /// TCP connect.
    pub connect_us: Times,
    /// TLS handshake.
    pub tls_us: Times,
    /// Addition: greeting of a protocol, such as the settings of HTTP/2; absent without any.
    #[serde(default, skip_serializing_if = "Times::is_empty")]
    pub hello_us: Times,
    /// Addition: round trips of pings; absent without any.
    #[serde(default, skip_serializing_if = "Times::is_empty")]
    pub ping_us: Times,
    /// Addition: messages of the judged phases; absent without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<Messages>,
    /// Addition: pings of the judged phases; absent without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pings: Option<Pings>,
    /// first byte − sent.
    pub ttfb_us: Times,
    /// complete − first byte.
    pub transfer_us: Times,
    /// Time of failed requests that are not censored.
    pub failed_us: Times,
    /// Facts about the generator.
    pub generator: Generator,
    /// Conditions and their results.
    pub thresholds: Vec<Threshold>,
    /// Checks on responses, by step.
    pub checks: Vec<CheckDoc>,
    /// Each phase by itself, warm-up excluded.
    pub phases: Vec<PhaseDoc>,
    /// Each scenario by itself, summed over judged phases.
    pub scenarios: Vec<StepDoc>,
    /// Each step by itself, summed over judged phases.
    pub steps: Vec<StepDoc>,
    /// The warm-up, apart from everything above; `{}` if there was none.
    #[serde(default)]
    pub warmup: Warmup,
    /// Requests outside every counter.
    pub setup: Setup,
    /// The events with their times.
    pub events: Vec<EventLine>,
    /// Diagnoses, with blame; they can change the verdict.
    pub findings: Vec<Finding>,
    /// Circumstances; they never change the verdict.
    pub notes: Vec<Sentence>,
    /// Addition: the URL, or the names of the targets.
    #[serde(default)]
    pub target: String,
    /// Addition: the load as a description and in numbers.
    #[serde(default)]
    pub load: LoadDoc,
    /// Addition: the uncounted first request of a plain run and its response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<Probe>,
    /// Addition: commands worth trying next, most useful first.
    #[serde(default)]
    pub next: Vec<Sentence>,
    /// Addition: the user's labels.
    #[serde(default)]
    pub tags: BTreeMap<String, String>,
    /// Addition: negotiated parameters of TLS handshakes; absent if none was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsDoc>,
    /// Addition: what steps counted, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counts: BTreeMap<String, u64>,
    /// Addition: steps timed as one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupDoc>,
    /// Addition: where users waited for each other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rendezvous: Vec<RendezvousDoc>,
    /// Addition: the result of the run's `before`; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<HookDoc>,
    /// Addition: the same of its `after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<HookDoc>,
    /// Addition: phases that held a constant number of connections, in the plan's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<HoldDoc>,
    /// Addition: the sampled hosts. In a lab they are in the topology's order; otherwise the host
    /// that sent the load comes first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostUseDoc>,
    /// Addition: of those hosts, the limit that a higher load would reach first; absent if none is
    /// known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest_limit: Option<NearestLimitDoc>,
    /// Addition: the counts of servers in the lab while the run was in progress, for those that
    /// report them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ServerCountDoc>,
    /// Addition: examples: the first failure of each class, and the slowest responses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<SampleLine>,
    /// Addition: what was done to hosts, by the plan's events, and what clients saw of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub impacts: Vec<ImpactDoc>,
    /// Addition: the agents of a run on several hosts; absent on a single host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetDoc>,
    /// Addition: the load was changed while it ran, so it is not the planned one; absent if it was
    /// not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub modified: bool,
    /// Addition: those changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ChangeDoc>,
}

impl RunRecord {
    /// Returns the object as one line of JSON, as stored in `run.json` and printed by `--format
    /// json`.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("plain data with string and number keys always encodes")
    }

    /// Reads `run.json`. Unknown fields are skipped: the format only grows.
    ///
    /// # Errors
    /// If the text is not a JSON object of this schema, or a number in it is beyond any run.
    pub fn from_json(text: &str) -> Result<Self, crate::DecodeError> {
        let record: Self = serde_json::from_str(text)
            .map_err(|error| crate::DecodeError::json_for(text, RUN_SCHEMA, &error))?;
        if record.schema != RUN_SCHEMA {
            return Err(crate::DecodeError::schema(&record.schema, RUN_SCHEMA));
        }
        check_number_limits(text.as_bytes())?;
        Ok(record)
    }
}
