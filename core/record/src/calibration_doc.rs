//! [`CalibrationsDoc`]: the `wavetank.calibration/1` object: what hosts can do as generators.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::{DecodeError, Number};

/// Version of the format; fields are only ever added to it.
pub const CALIBRATION_SCHEMA: &str = "wavetank.calibration/1";

/// What a host can do in a second, of whatever: a nanosecond for each of them is less than any system call takes. The
/// microseconds that one takes are no more, either.
const PER_S: RangeInclusive<f64> = 0.0..=1e9;
/// What a connection can take of memory at one end, bytes: more than its number, and less than buffers for megabytes.
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
    /// When it was begun, RFC 3339 in UTC.
    pub measured_at: String,
    /// The same as seconds since 1970.
    pub measured_at_s: u64,
    /// How long it took, in seconds.
    pub took_s: Number,
    /// The host.
    pub host: CalibratedHostDoc,
    /// Driver of the load threads: `uring` or `epoll`.
    pub engine: String,
    /// What was loaded, and who had which CPUs.
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
    /// What a connection takes of memory; absent where too few could be held to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<HeldMemoryDoc>,
    /// Requests done each second in the open model at the most: where each arrival may find nothing else to do, a request
    /// costs more than in the closed one, of which `requests` is.
    pub open_per_s: Number,
    /// How exactly requests are begun, at shares of `requests.measured`.
    pub lag: Vec<LagDoc>,
    /// What both sides counted.
    pub counted: CountedDoc,
    /// Share of the time that other guests of the same machine took, 0 to 1.
    pub steal: Number,
    /// CPUs that other programs of this host kept busy, on the average.
    pub others_cpus: Number,
    /// What to know before believing it.
    pub notes: Vec<String>,
}

/// Of the host, what a calibration depends on.
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

/// What was loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CalibrationTargetDoc {
    /// `own`: a server of ours on this host, in a process of its own; `url`: a server that was named.
    pub kind: String,
    /// Where; empty for our own.
    pub url: String,
    /// `shared`: load and target had the same CPUs; `apart`: each its own; `elsewhere`: the load had all.
    pub layout: String,
    /// CPUs of the load threads.
    pub load_cpus: Vec<u32>,
    /// CPUs of our own target.
    pub target_cpus: Vec<u32>,
}

/// Something that can be done so often a second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThroughputDoc {
    /// Always `per_s`: of `measured`, `least`, `most`, `rounds` and `alone`.
    pub unit: String,
    /// The median of the rounds, as it was measured beside the target.
    pub measured: Number,
    /// Of the rounds.
    pub least: Number,
    /// Of the rounds.
    pub most: Number,
    /// One a round, in their order.
    pub rounds: Vec<Number>,
    /// CPU time that the load's process took for each, in microseconds: the median of the rounds.
    pub cpu_us_each: Number,
    /// What load threads on all CPUs would do if nothing else ran there: CPUs × 1,000,000 / `cpu_us_each`.
    pub alone: Number,
    /// The highest share of its time that a load thread was busy, 0 to 1: the median of the rounds.
    pub busiest_thread: Number,
    /// Which were measured without success; 0 in all rounds together is as it should be.
    pub failed: u64,
    /// `own` or `url`, as in [`CalibrationTargetDoc::kind`]: what it was measured against.
    pub against: String,
}

/// What one connection takes of memory at one end, by how much it grew between two numbers of connections held.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeldMemoryDoc {
    /// The smaller number of connections.
    pub from: u64,
    /// The greater one.
    pub connections: u64,
    /// Of the load's process, bytes for each.
    pub user_bytes: Number,
    /// Of the kernel's slabs, bytes for each end; absent where the kernel does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_bytes: Option<Number>,
}

/// Lag (begun − intended) of a load in the open model; each percentile is the median of the rounds'.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LagDoc {
    /// Of `requests.measured`, 0 to 1.
    pub share: Number,
    /// Requests asked for each second.
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

    /// Read the object. Unknown fields are skipped: the format only grows.
    ///
    /// # Errors
    /// When the text is no JSON object of this schema, or has a figure that no host can have: people open this file, and
    /// some write into it.
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
    /// The first figure that no host can have. One of 0 is told as unknown.
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
                "{name} of {} on {} is {value:e}, and can be {:e} to {:e}",
                self.host.hostname,
                self.engine,
                range.start(),
                range.end()
            )
        })
    }
}
