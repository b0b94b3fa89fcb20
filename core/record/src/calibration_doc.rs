//! [`CalibrationsDoc`]: the `wavetank.calibration/1` object: what hosts can do as generators.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::{DecodeError, Number};

/// Version of the format; fields are only ever added to it.
pub const CALIBRATION_SCHEMA: &str = "wavetank.calibration/1";

/// Range of any rate of a host per second. One nanosecond for each is less than any system call
/// takes. The same range bounds the microseconds for one operation.
const PER_S: RangeInclusive<f64> = 0.0..=1e9;
/// Range of a connection's memory at one end, bytes: more than its number, and less than buffers of
/// megabytes.
const EACH_BYTES: RangeInclusive<f64> = 1.0..=1e7;

/// All calibrations that are known: at most one for each host and engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CalibrationsDoc {
    /// Always [`CALIBRATION_SCHEMA`].
    pub schema: String,
    /// In the order in which they were made.
    pub calibrations: Vec<CalibrationDoc>,
}

/// What one host can do as a generator, with one engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CalibrationDoc {
    /// Version of wavetank that measured it.
    pub version: String,
    /// When it started, RFC 3339 in UTC.
    pub measured_at: String,
    /// The same as seconds since 1970.
    pub measured_at_s: u64,
    /// How long it took, in seconds.
    pub took_s: Number,
    /// The host.
    pub host: CalibratedHostDoc,
    /// Driver of the load threads: `uring` or `epoll`.
    pub engine: String,
    /// The target, and the CPUs of load and target.
    pub target: CalibrationTargetDoc,
    /// Connections (and users) of the figures.
    pub users: u64,
    /// Requests on connections that are kept.
    pub requests: ThroughputDoc,
    /// New connections, with one request on each, closed by reset.
    pub connections: ThroughputDoc,
    /// The same in TLS, each handshake a full one.
    pub handshakes_full: ThroughputDoc,
    /// The same with the session of an earlier connection.
    pub handshakes_resumed: ThroughputDoc,
    /// Memory of a connection; absent if too few could be held to measure it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<HeldMemoryDoc>,
    /// Highest number of requests done per second in the open loop. A request costs more there
    /// than in the closed loop, which `requests` is about, because each arrival may find the
    /// thread without other work.
    pub open_per_s: Number,
    /// How exactly requests start on time, at shares of `requests.measured`.
    pub lag: Vec<LagDoc>,
    /// What both sides counted.
    pub counted: CountedDoc,
    /// Share of the time that other guests of the same machine took, 0 to 1.
    pub steal: Number,
    /// CPUs that other programs of this host kept busy, on the average.
    pub others_cpus: Number,
    /// Caveats.
    pub notes: Vec<String>,
}

/// The properties of the host that a calibration depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CalibratedHostDoc {
    /// Host name.
    pub hostname: String,
    /// CPUs the process may run on.
    pub cpus: u32,
    /// CPU model.
    pub cpu_model: String,
    /// Kernel release.
    pub kernel: String,
}

/// The target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CalibrationTargetDoc {
    /// `own`: wavetank's own server on this host, in a separate process; `url`: a server named by
    /// the user.
    pub kind: String,
    /// Where; empty for our own.
    pub url: String,
    /// `shared`: load and target had the same CPUs; `apart`: each its own; `elsewhere`: the load
    /// had all.
    pub layout: String,
    /// CPUs of the load threads.
    pub load_cpus: Vec<u32>,
    /// CPUs of our own target.
    pub target_cpus: Vec<u32>,
}

/// A measured rate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThroughputDoc {
    /// Always `per_s`: of `measured`, `least`, `most`, `rounds` and `alone`.
    pub unit: String,
    /// The median of the rounds, measured with the target running on the host.
    pub measured: Number,
    /// Over the rounds.
    pub least: Number,
    /// Over the rounds.
    pub most: Number,
    /// One a round, in their order.
    pub rounds: Vec<Number>,
    /// CPU time that the load's process took for each, in microseconds: the median of the rounds.
    pub cpu_us_each: Number,
    /// What load threads on all CPUs would achieve if nothing else ran there: CPUs × 1,000,000 /
    /// `cpu_us_each`.
    pub alone: Number,
    /// The highest share of its time that a load thread was busy, 0 to 1: the median of the rounds.
    pub busiest_thread: Number,
    /// Failures in all rounds together; normally 0.
    pub failed: u64,
    /// `own` or `url`, as in [`CalibrationTargetDoc::kind`]: what it was measured against.
    pub against: String,
}

/// Memory of one connection at one end, derived from the growth between two numbers of held
/// connections.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeldMemoryDoc {
    /// The smaller number of connections.
    pub from: u64,
    /// The greater one.
    pub connections: u64,
    /// Memory of the load's process, bytes per connection.
    pub user_bytes: Number,
    /// Kernel slab memory, bytes for each end; absent if the kernel does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_bytes: Option<Number>,
}

/// Lag (actual start − intended start) of a load in the open loop; each percentile is the median
/// of the rounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LagDoc {
    /// Share of `requests.measured`, 0 to 1.
    pub share: Number,
    /// Requested rate per second.
    pub offered_per_s: Number,
    /// Requests that were done each second, the median of the rounds.
    pub done_per_s: Number,
    /// Of all requests, those begun after the late tolerance, 0 to 1; the median of the rounds.
    pub late: Number,
    /// Of all requests, those that were never sent, 0 to 1; the median of the rounds.
    pub dropped: Number,
    /// Half begin so late at most, in microseconds.
    pub p50_us: Number,
    /// 99 %.
    pub p99_us: Number,
    /// 99.9 %.
    pub p99_9_us: Number,
    /// The least 99 % of a round.
    pub p99_least_us: Number,
    /// The greatest 99 % of a round.
    pub p99_most_us: Number,
}

/// Requests of all measurements against our own target, counted by both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedDoc {
    /// Sent, by our own count.
    pub sent: u64,
    /// Received, by the target's.
    pub target: u64,
}

impl CalibrationsDoc {
    /// With these calibrations.
    pub fn new(calibrations: Vec<CalibrationDoc>) -> Self {
        Self { schema: CALIBRATION_SCHEMA.to_owned(), calibrations }
    }

    /// The object as indented JSON: people open this file.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data with string keys always encodes")
    }

    /// Reads the object. Unknown fields are skipped: the format only grows.
    ///
    /// # Errors
    /// If the text is not a JSON object of this schema, or has a figure that no host can have.
    /// Users open this file, and some edit it.
    pub fn from_json(text: &str) -> Result<Self, DecodeError> {
        let doc: Self = serde_json::from_str(text).map_err(|error| DecodeError::json(&error))?;
        if doc.schema != CALIBRATION_SCHEMA {
            return Err(DecodeError::schema(&doc.schema, CALIBRATION_SCHEMA));
        }
        match doc.calibrations.iter().find_map(CalibrationDoc::absurd) {
            None => Ok(doc),
            Some(what) => Err(DecodeError::new(what)),
        }
    }
}

impl CalibrationDoc {
    /// Returns a message about the first figure that no host can have. A figure of 0 means unknown.
    fn absurd(&self) -> Option<String> {
        let figures = [
            ("requests", &self.requests),
            ("connections", &self.connections),
            ("handshakes_full", &self.handshakes_full),
            ("handshakes_resumed", &self.handshakes_resumed),
        ];
        let figures = figures.into_iter().flat_map(|(name, figure)| {
            let ThroughputDoc { measured, least, most, rounds, cpu_us_each, alone, .. } = figure;
            let own = [
                ("measured", measured),
                ("least", least),
                ("most", most),
                ("cpu_us_each", cpu_us_each),
                ("alone", alone),
            ];
            let rounds = rounds.iter().map(|round| ("rounds", round));
            own.into_iter().chain(rounds).map(move |(part, value)| (format!("{name}.{part}"), value.0, PER_S))
        });
        let user = self.memory.iter().map(|memory| ("memory.user_bytes", memory.user_bytes));
        let kernel =
            self.memory.iter().filter_map(|memory| Some(("memory.kernel_bytes", memory.kernel_bytes?)));
        let memory = user.chain(kernel).map(|(name, value)| (name.to_owned(), value.0, EACH_BYTES));
        let open = std::iter::once(("open_per_s".to_owned(), self.open_per_s.0, PER_S));
        let mut all = figures.chain(open).chain(memory);
        all.find(|(_, value, range)| !range.contains(value)).map(|(name, value, range)| {
            format!(
                "{name} of {} on {} is {value:e}, not in the possible range of {:e} to {:e}",
                self.host.hostname,
                self.engine,
                range.start(),
                range.end()
            )
        })
    }
}
