//! [`Interval`]: what happened in one stretch of time, on one thread or merged.

use wavetank_plan::{Key, Nanos};

use crate::{Bytes, ConnCounts, Counters, Histogram, StatusCounts, Wire};

/// What happened in [`from`, `from + len`), on one load thread, or merged over threads and agents.
/// Counters are differences; gauges are the values at the seal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interval {
    /// Begin, on the run's clock.
    pub from: Nanos,
    /// Length: a second, or shorter where a phase ends inside it.
    pub len: Nanos,
    /// One entry per key that has occurred.
    pub steps: Vec<StepSeries>,
    /// One entry per phase that has occurred.
    pub phases: Vec<PhaseSeries>,
    /// One entry per (phase, target) whose connections opened.
    pub targets: Vec<TargetSeries>,
    /// Connections.
    pub conns: ConnCounts,
    /// Traffic.
    pub bytes: Bytes,
    /// Gauge at the seal: virtual users.
    pub users: u64,
    /// Each load thread's own health.
    pub threads: Vec<ThreadHealth>,
}

/// Requests of one key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepSeries {
    /// What they are counted under.
    pub key: Key,
    /// Counts.
    pub counters: Counters,
    /// Gauge at the seal: offered and unresolved.
    pub open: u64,
    /// Answers by status.
    pub status: StatusCounts,
    /// What went over the wire.
    pub wire: Wire,
    /// complete − intended of done requests, and the time waited of censored ones.
    pub response: Histogram,
    /// complete − sent of done requests.
    pub service: Histogram,
}

/// Times of one phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseSeries {
    /// Index into the plan's phases.
    pub phase: u16,
    /// begun − intended, of every request begun.
    pub lag: Histogram,
    /// sent − begun, of every request sent.
    pub wait: Histogram,
    /// first byte − sent.
    pub ttfb: Histogram,
    /// complete − first byte.
    pub transfer: Histogram,
    /// End − intended of failed requests that are not censored.
    pub failed: Histogram,
}

/// Connection set-up towards one target, by the phase of the connection's planned instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TargetSeries {
    /// Index into the plan's phases.
    pub phase: u16,
    /// Index into the plan's targets.
    pub target: u16,
    /// TCP connect, of opened connections.
    pub connect: Histogram,
    /// TLS handshake.
    pub tls: Histogram,
}

/// How a load thread fared in one interval: the generator judges itself first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadHealth {
    /// Number of the thread, from 0.
    pub thread: u16,
    /// Loop turns that did work.
    pub turns: u64,
    /// Of them, turns that worked longer than the late tolerance.
    pub stalled_turns: u64,
    /// Of them, turns that found no buffer or submission slot.
    pub starved_turns: u64,
    /// Time spent in turns that did work; spinning and sleeping are idle.
    pub busy_ns: u64,
    /// The longest turn.
    pub turn_ns_max: u64,
    /// The longest single send call.
    pub send_call_ns_max: u64,
    /// CPU time of the thread.
    pub cpu_ns: u64,
}
