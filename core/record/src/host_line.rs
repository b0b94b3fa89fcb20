//! [`HostLine`] and [`TargetLine`]: one line of `hosts/<host>.jsonl` and of `truth.jsonl`.

use serde::{Deserialize, Serialize};
use wavetank_measure::{HostSample, TargetSample};
use wavetank_units::Nanos;

use crate::DecodeError;
use crate::host_counters_line::RawCounters;
use crate::number_limits::check_number_limits;

/// Version of both lines.
const LINE_VERSION: u32 = 1;
/// Schema of the connection counts that a `wavetank serve` reports.
const TARGET_SCHEMA: &str = "wavetank.truth_connections/1";

/// A sample of a host at one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "RawHost", from = "RawHost")]
pub struct HostLine {
    /// The sample.
    pub sample: HostSample,
    /// Offset of its clock from the run's, nanoseconds; instants are already corrected.
    pub offset_ns: i64,
    /// Maximum error of the offset, nanoseconds; 0 on the host that has the run's clock.
    pub error_ns: u64,
}

/// A target's connections at one instant, by its own count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TargetLine(pub TargetSample);

/// The target's response: its own count of connections, at an instant given on two clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TargetCount {
    /// Open connections, without those used to ask for the count.
    pub open: u64,
    /// Accepted since its counts began.
    pub accepted: u64,
    /// Ended since then.
    pub closed: u64,
    /// Connections among them that were reset.
    pub reset: u64,
    /// Most connections open simultaneously since then.
    pub peak: u64,
    /// The instant on the kernel's monotonic clock of its host, nanoseconds.
    pub monotonic_ns: i64,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RawHost {
    v: u32,
    at_ns: i64,
    offset_ns: i64,
    error_ns: u64,
    tcp: RawTcp,
    net: RawNet,
    memory: RawMemory,
    process: RawProcess,
    cpus_milli: u64,
    cores: Vec<(u64, u64)>,
    #[serde(skip_serializing_if = "RawCounters::is_empty")]
    pub(crate) counters: RawCounters,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct RawTcp {
    inuse: u64,
    inuse6: u64,
    orphan: u64,
    tw: u64,
    alloc: u64,
    mem_pages: u64,
    established: u64,
    listen_overflows: u64,
    accept_queue: u64,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct RawNet {
    in_bytes: u64,
    out_bytes: u64,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_field_names, reason = "the fields are named as in the format, with their unit")]
struct RawMemory {
    free_bytes: u64,
    available_bytes: u64,
    slab_bytes: u64,
    used_bytes: u64,
    all_bytes: u64,
    swap_bytes: u64,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct RawProcess {
    rss_bytes: u64,
    cpu_user_ns: u64,
    cpu_system_ns: u64,
    cpu_load_ns: u64,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct RawTarget {
    v: u32,
    asked_ns: i64,
    at_ns: i64,
    error_ns: i64,
    open: u64,
    accepted: u64,
    closed: u64,
    reset: u64,
    peak: u64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawCount {
    schema: String,
    open: u64,
    accepted: u64,
    closed: u64,
    reset: u64,
    peak: u64,
    monotonic_ns: i64,
}

impl HostLine {
    /// The line without its newline.
    pub fn encode(&self) -> String {
        serde_json::to_string(&RawHost::from(self)).expect("plain data with string keys always encodes")
    }

    /// Reads one line, without its newline.
    ///
    /// # Errors
    /// If the bytes are not such a line of a known version, or a number in it is beyond any run.
    pub fn decode(line: &[u8]) -> Result<Self, DecodeError> {
        RawHost::decode(line).map(Self::from)
    }
}

impl RawHost {
    /// Reads one line, without its newline.
    ///
    /// # Errors
    /// Those of [`HostLine::decode`].
    pub(crate) fn decode(line: &[u8]) -> Result<Self, DecodeError> {
        check_number_limits(line)?;
        let raw: Self = serde_json::from_slice(line).map_err(|error| DecodeError::json(&error))?;
        check(raw.v)?;
        Ok(raw)
    }
}

impl From<HostLine> for RawHost {
    fn from(line: HostLine) -> Self {
        Self::from(&line)
    }
}

impl From<&HostLine> for RawHost {
    fn from(line: &HostLine) -> Self {
        // Taken apart by name, so that a new field cannot be forgotten here.
        let HostSample {
            at,
            tcp_inuse,
            tcp6_inuse,
            tcp_orphan,
            tcp_tw,
            tcp_alloc,
            tcp_mem_pages,
            tcp_established,
            listen_overflows,
            accept_queue,
            net_in_bytes,
            net_out_bytes,
            mem_free_bytes,
            mem_available_bytes,
            slab_bytes,
            mem_used_bytes,
            mem_all_bytes,
            swap_bytes,
            rss_bytes,
            cpu_user_ns,
            cpu_system_ns,
            cpu_load_ns,
            cpus_milli,
            ref cores,
            ref counters,
        } = line.sample;
        Self {
            v: LINE_VERSION,
            at_ns: at.0,
            offset_ns: line.offset_ns,
            error_ns: line.error_ns,
            tcp: RawTcp {
                inuse: tcp_inuse,
                inuse6: tcp6_inuse,
                orphan: tcp_orphan,
                tw: tcp_tw,
                alloc: tcp_alloc,
                mem_pages: tcp_mem_pages,
                established: tcp_established,
                listen_overflows,
                accept_queue,
            },
            net: RawNet { in_bytes: net_in_bytes, out_bytes: net_out_bytes },
            memory: RawMemory {
                free_bytes: mem_free_bytes,
                available_bytes: mem_available_bytes,
                slab_bytes,
                used_bytes: mem_used_bytes,
                all_bytes: mem_all_bytes,
                swap_bytes,
            },
            process: RawProcess { rss_bytes, cpu_user_ns, cpu_system_ns, cpu_load_ns },
            cpus_milli,
            cores: cores.clone(),
            counters: counters.into(),
        }
    }
}

impl From<RawHost> for HostLine {
    fn from(raw: RawHost) -> Self {
        let RawHost {
            at_ns,
            offset_ns,
            error_ns,
            tcp,
            net,
            memory,
            process,
            cpus_milli,
            cores,
            counters,
            ..
        } = raw;
        let sample = HostSample {
            at: Nanos(at_ns),
            tcp_inuse: tcp.inuse,
            tcp6_inuse: tcp.inuse6,
            tcp_orphan: tcp.orphan,
            tcp_tw: tcp.tw,
            tcp_alloc: tcp.alloc,
            tcp_mem_pages: tcp.mem_pages,
            tcp_established: tcp.established,
            listen_overflows: tcp.listen_overflows,
            accept_queue: tcp.accept_queue,
            net_in_bytes: net.in_bytes,
            net_out_bytes: net.out_bytes,
            mem_free_bytes: memory.free_bytes,
            mem_available_bytes: memory.available_bytes,
            slab_bytes: memory.slab_bytes,
            mem_used_bytes: memory.used_bytes,
            mem_all_bytes: memory.all_bytes,
            swap_bytes: memory.swap_bytes,
            rss_bytes: process.rss_bytes,
            cpu_user_ns: process.cpu_user_ns,
            cpu_system_ns: process.cpu_system_ns,
            cpu_load_ns: process.cpu_load_ns,
            cpus_milli,
            cores,
            counters: counters.into(),
        };
        Self { sample, offset_ns, error_ns }
    }
}

impl TargetLine {
    /// The line without its newline.
    pub fn encode(&self) -> String {
        let TargetSample { asked, at, error, open, accepted, closed, reset, peak } = self.0;
        let (asked_ns, at_ns, error_ns) = (asked.0, at.0, error.0);
        let raw =
            RawTarget { v: LINE_VERSION, asked_ns, at_ns, error_ns, open, accepted, closed, reset, peak };
        serde_json::to_string(&raw).expect("numbers always encode")
    }

    /// Reads one line, without its newline.
    ///
    /// # Errors
    /// If the bytes are not such a line of a known version, or a number in it is beyond any run.
    pub fn decode(line: &[u8]) -> Result<Self, DecodeError> {
        check_number_limits(line)?;
        let raw: RawTarget = serde_json::from_slice(line).map_err(|error| DecodeError::json(&error))?;
        check(raw.v)?;
        let RawTarget { asked_ns, at_ns, error_ns, open, accepted, closed, reset, peak, .. } = raw;
        let (asked, at, error) = (Nanos(asked_ns), Nanos(at_ns), Nanos(error_ns));
        Ok(Self(TargetSample { asked, at, error, open, accepted, closed, reset, peak }))
    }
}

impl TargetCount {
    /// Reads the body of a response to `GET /truth/connections`.
    ///
    /// # Errors
    /// If it is not a JSON object of that schema, so the responding server is not a `wavetank
    /// serve`.
    pub fn decode(body: &[u8]) -> Result<Self, DecodeError> {
        check_number_limits(body)?;
        let raw: RawCount = serde_json::from_slice(body).map_err(|error| DecodeError::json(&error))?;
        if raw.schema != TARGET_SCHEMA {
            return Err(DecodeError::schema(&raw.schema, TARGET_SCHEMA));
        }
        let RawCount { open, accepted, closed, reset, peak, monotonic_ns, .. } = raw;
        Ok(Self { open, accepted, closed, reset, peak, monotonic_ns })
    }
}

fn check(version: u32) -> Result<(), DecodeError> {
    if version == LINE_VERSION {
        return Ok(());
    }
    Err(DecodeError::version("version", version, LINE_VERSION))
}
