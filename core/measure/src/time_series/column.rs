//! [`TimeBucket`]: one bucket of a time series.

use wavetank_units::Nanos;

use crate::{
    Bytes, ConnCounts, Histogram, Interval, PacketCounters, RequestCounters, StatusCounts, StepSeries,
    ThreadStats, WireCounters,
};

/// One bucket of the time series. Counts are sums; gauges are those of the latest seal in it.
/// Requests and their times are those of judged keys, or in a warm-up bucket those of warm-up keys.
/// Everything else includes both.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeBucket {
    /// Begin, on the run's clock: where what was sealed in it begins.
    pub from: Nanos,
    /// Length of the sealed intervals in it: shorter than the bucket length at the ends of the run.
    /// Rates are divided by this length.
    pub len: Nanos,
    /// Of the warm-up.
    pub warmup: bool,
    /// Intervals that are in it, of all agents: 0 where all were lost.
    pub intervals: u64,
    /// Requests.
    pub counters: RequestCounters,
    /// Gauge: requests offered and unresolved.
    pub open: u64,
    /// Answers by status, sorted.
    pub status: StatusCounts,
    /// Requests on the wire.
    pub wire: WireCounters,
    /// complete − intended, with the time waited of censored requests.
    pub response: Histogram,
    /// complete − sent.
    pub service: Histogram,
    /// Actual start − intended start.
    pub lag: Histogram,
    /// Sent − actual start.
    pub wait: Histogram,
    /// Connections; `peak` is the highest number that an agent had open simultaneously.
    pub conns: ConnCounts,
    /// Traffic.
    pub bytes: Bytes,
    /// Packets of QUIC connections.
    pub packets: PacketCounters,
    /// Gauge: virtual users.
    pub users: u64,
    /// The highest busy share of a load thread in one interval.
    pub busy_max: f64,
    /// Time that load threads spent in turns that did work.
    pub busy_ns: u64,
    /// Time that load threads had: what `busy_ns` is a share of.
    pub threads_ns: u64,
    /// CPU time of load threads.
    pub cpu_ns: u64,
    /// Loop turns that did work.
    pub turns: u64,
    /// Turns among them that worked longer than the late tolerance.
    pub stalled_turns: u64,
    /// Turns among them that found no buffer or submission slot.
    pub starved_turns: u64,
}

impl TimeBucket {
    /// End, on the run's clock.
    pub const fn end(&self) -> Nanos {
        self.from.after(self.len)
    }

    /// Returns the share of time that load threads spent in turns that did work, over all threads;
    /// 0 without any.
    pub fn busy_mean(&self) -> f64 {
        if self.threads_ns == 0 { 0.0 } else { self.busy_ns as f64 / self.threads_ns as f64 }
    }

    /// Requests included in `response` with the time they waited, because they got no response by
    /// the end of the bucket's time or at all.
    pub fn censored(&self) -> u64 {
        (self.response.count() + self.wire.one_way).saturating_sub(self.counters.done)
    }

    /// Something that was counted `n` times in it, per second of it; 0 where nothing was sealed.
    pub fn per_s(&self, n: u64) -> f64 {
        crate::view::per_second(n, self.len)
    }

    /// Requests of one key; the gauge is left alone.
    pub(super) fn add_step(&mut self, series: &StepSeries) {
        self.counters.merge(&series.counters);
        self.status.merge(&series.status);
        self.wire.merge(&series.wire);
        self.response.merge(&series.response);
        self.service.merge(&series.service);
    }

    /// Adds everything that belongs to no key, except gauges.
    pub(super) fn add_rest(&mut self, interval: &Interval) {
        self.conns.merge(&interval.conns);
        self.conns.peak = self.conns.peak.max(interval.conns.peak);
        self.bytes.merge(&interval.bytes);
        self.packets.merge(&interval.packets);
        for health in &interval.threads {
            let ThreadStats { turns, stalled_turns, starved_turns, busy_ns, cpu_ns, .. } = *health;
            self.busy_max = self.busy_max.max(health.busy_share(interval.len));
            self.busy_ns += busy_ns;
            self.threads_ns += interval.len.0.unsigned_abs();
            self.cpu_ns += cpu_ns;
            self.turns += turns;
            self.stalled_turns += stalled_turns;
            self.starved_turns += starved_turns;
        }
    }

    /// Adds another bucket, except for its gauges and its place in time.
    pub(super) fn merge(&mut self, other: &Self) {
        self.intervals += other.intervals;
        self.counters.merge(&other.counters);
        self.status.merge(&other.status);
        self.wire.merge(&other.wire);
        self.response.merge(&other.response);
        self.service.merge(&other.service);
        self.lag.merge(&other.lag);
        self.wait.merge(&other.wait);
        self.conns.merge(&other.conns);
        self.conns.peak = self.conns.peak.max(other.conns.peak);
        self.bytes.merge(&other.bytes);
        self.packets.merge(&other.packets);
        self.busy_max = self.busy_max.max(other.busy_max);
        self.busy_ns += other.busy_ns;
        self.threads_ns += other.threads_ns;
        self.cpu_ns += other.cpu_ns;
        self.turns += other.turns;
        self.stalled_turns += other.stalled_turns;
        self.starved_turns += other.starved_turns;
    }
}
