//! The plain blocks a [`RunRecord`](crate::RunRecord) is made of.

use wavetank_units::Sentence;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Number, PhaseConnections, Sessions, Times};

/// Requests of one scope: offered = done + failed + dropped + open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requests {
    /// Intended by the plan.
    pub offered: u64,
    /// First byte handed to the kernel.
    pub sent: u64,
    /// Full response as expected.
    pub done: u64,
    /// Any error class.
    pub failed: u64,
    /// Begun after the late tolerance; also done or failed.
    pub late: u64,
    /// Never sent.
    pub dropped: u64,
    /// Unresolved at the end.
    pub open: u64,
}

/// Rates inside the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RateDoc {
    /// Offered per second.
    pub offered_per_s: Number,
    /// Done per second.
    pub done_per_s: Number,
}

/// Requests on the wire: `sent = requests.sent + retried + redirected + resources`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wire {
    /// Requests written to a connection.
    pub sent: u64,
    /// Second tries.
    pub retried: u64,
    /// Following a redirect.
    pub redirected: u64,
    /// Embedded resources.
    pub resources: u64,
    /// Done without an answer, and thus without a response time.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub one_way: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Messages on connections that carry them: `WebSocket`, event streams, open gRPC calls, TCP, UDP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Messages {
    /// Handed to the kernel.
    pub sent: u64,
    /// Received in whole, also those that no request awaited.
    pub received: u64,
}

/// Pings on connections that send them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pings {
    /// Handed to the kernel.
    pub sent: u64,
    /// Answered.
    pub answered: u64,
}

/// Connections of a whole run, or those in the time of a phase.
///
/// In a whole run, offered = opened + failed + opening, and opened = closed + lost + open. In the
/// time of a phase, connections from before may exist as well ([`PhaseConnections`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connections {
    /// Wanted by the plan at most at one time.
    pub planned: u64,
    /// Started openings.
    pub offered: u64,
    /// Still being opened at the end.
    pub opening: u64,
    /// Opened, re-openings included.
    pub opened: u64,
    /// Could not be opened.
    pub failed: u64,
    /// Ended by us, or announced by the peer.
    pub closed: u64,
    /// Ended although the plan still needed them.
    pub lost: u64,
    /// The part of `opened` that replaces lost connections.
    pub reopened: u64,
    /// Open at the end.
    pub open: u64,
    /// Most connections open simultaneously.
    pub peak: u64,
    /// Fewest connections open at the end of a second while a hold phase held. Absent if no phase
    /// held for a whole second; 0 for a run if the plan holds none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_min: Option<u64>,
    /// Addition: openings of hold phases that started after the late tolerance. They are opened
    /// later, never dropped. Absent if there were none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub late: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it by reference")]
const fn is_none(count: &u64) -> bool {
    *count == 0
}

/// Traffic of connections under load, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bytes {
    /// Handed to the kernel.
    pub sent: u64,
    /// Received from the kernel.
    pub received: u64,
}

/// Packets of QUIC connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packets {
    /// Sent, including those that replace lost ones.
    pub sent: u64,
    /// Declared lost by QUIC's loss detection (RFC 9002 §6).
    pub lost: u64,
}

/// Facts about the generator. Fields after `engine` are additions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Generator {
    /// CPU time in user mode, seconds.
    pub cpu_user_s: Number,
    /// CPU time in the kernel, seconds.
    pub cpu_system_s: Number,
    /// Peak resident memory, bytes.
    pub peak_rss_bytes: u64,
    /// Load threads.
    pub threads: u32,
    /// `uring` or `epoll`.
    pub engine: String,
    /// Addition: the highest share of an interval that a load thread spent in turns that did work,
    /// 0 to 1.
    #[serde(default)]
    pub busiest_thread: Number,
    /// Addition: the seconds over which this CPU time was measured, from the first connection
    /// opened ahead of the load to the end of the drain, including the warm-up. Absent if no CPU
    /// time was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_over_s: Option<Number>,
    /// Addition: memory of this process per connection; absent if few connections were opened ahead
    /// of the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_memory: Option<ConnectionMemory>,
}

/// Growth of the memory written by this process while connections were opened ahead of the load,
/// after its threads were created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectionMemory {
    /// Connections open at the end of it.
    pub connections: u64,
    /// By how much it grew, bytes.
    pub grown_bytes: u64,
    /// The one divided by the other.
    pub bytes_per_connection: u64,
}

/// TLS handshakes of the whole run, counted like `connections`. Each map adds up to `handshakes`
/// minus those without the property.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsDoc {
    /// Complete ones.
    pub handshakes: u64,
    /// Handshakes that resumed an earlier session.
    pub resumed: u64,
    /// Begun and never completed.
    pub failed: u64,
    /// Complete ones by version.
    pub version: BTreeMap<String, u64>,
    /// By cipher suite.
    pub cipher: BTreeMap<String, u64>,
    /// By group of the key exchange.
    pub group: BTreeMap<String, u64>,
    /// By application protocol.
    pub alpn: BTreeMap<String, u64>,
}

/// Requests outside every counter: the probe, the run's `before` and `after`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// Sent.
    pub sent: u64,
    /// Answered.
    pub done: u64,
    /// Not answered.
    pub failed: u64,
}

/// The warm-up; empty (`{}`) where the plan has none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Warmup {
    /// Its requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<Requests>,
    /// Its requests on the wire; a target counts them too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<Wire>,
    /// Its response time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_us: Option<Times>,
}

/// One step or scenario, summed over judged phases.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepDoc {
    /// Name of the step or scenario; empty for the unnamed scenario.
    pub name: String,
    /// Its requests.
    pub requests: Requests,
    /// Its response time.
    pub response_us: Times,
    /// Addition: its service time.
    #[serde(default)]
    pub service_us: Times,
    /// Addition: name of the scenario a step belongs to.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scenario: String,
    /// Addition: its failed requests by class; only classes that occurred.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<String, u64>,
    /// Addition: its responses by status; only those that occurred.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub status: BTreeMap<u16, u64>,
    /// Addition: sessions, of a scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sessions: Option<Sessions>,
}

/// One judged phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseDoc {
    /// Name of the phase.
    pub name: String,
    /// When it began on the run's clock, seconds.
    pub start_s: Number,
    /// How long it lasted, seconds.
    pub duration_s: Number,
    /// Its requests.
    pub requests: Requests,
    /// Rates inside its time.
    pub rate: RateDoc,
    /// Its response time.
    pub response_us: Times,
    /// Its lag.
    pub lag_us: Times,
    /// Its wait for a connection.
    pub wait_us: Times,
    /// Addition: its failed requests by class; only classes that occurred.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<String, u64>,
    /// Addition: sessions that began in it.
    #[serde(default)]
    pub sessions: Sessions,
    /// Addition: connections in its time, of a phase that holds some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<PhaseConnections>,
}

/// How a load ended before its plan did, or how much of it is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CutShortDoc {
    /// The planned length of the measured window in seconds; null if only counts limit it.
    pub planned_s: Option<Number>,
    /// Why, e.g. `interrupted by a signal`.
    pub why: Sentence,
}

/// The load as a description and in numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadDoc {
    /// `open` or `closed`: the model of the first judged phase.
    pub model: String,
    /// The requested load, e.g. `50 connections, 10 s, closed loop`.
    pub text: Sentence,
    /// Whether the user left it all to the defaults.
    #[serde(default)]
    pub defaults: bool,
}

/// The uncounted first request of a plain run and its response.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// Method sent.
    pub method: String,
    /// Path sent.
    pub path: String,
    /// Status of the response; 0 if there was none.
    pub status: u16,
    /// Bytes of its body.
    pub body_bytes: u64,
    /// Its media type without parameters; empty if it named none.
    #[serde(default)]
    pub content_type: String,
    /// Version of its status line, e.g. `HTTP/1.1`.
    pub version: String,
    /// Address that answered.
    pub address: String,
    /// From the start of the connect to the end of the response.
    pub time_us: Number,
    /// Why no response came; empty if one did.
    #[serde(default, skip_serializing_if = "Sentence::is_empty")]
    pub error: Sentence,
}
