//! [`TotalsView`]: totals of some keys, merged for reading.

use wavetank_units::Nanos;

use crate::{
    Histogram, MessageCounters, PhaseSeries, RequestCounters, SessionSeries, StatusCounts, StepSeries,
    WireCounters,
};

/// Which keys a [`TotalsView`] merges. All but `Warmup` and `Phase` leave warm-up out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Every key that is judged.
    Judged,
    /// Every key of a warm-up phase.
    Warmup,
    /// One phase, by its index in the plan.
    Phase(u16),
    /// One scenario, by its index in the plan.
    Scenario(u16),
    /// One step, by the indices of scenario and step.
    Step(u16, u16),
}

/// Totals of some keys. The parts that are kept by phase only (lag, wait, ttfb, transfer, failed,
/// connect, tls) are empty in the view of a scenario or step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TotalsView {
    /// Counts.
    pub counters: RequestCounters,
    /// Offered and unresolved: at the last seal, or for ever once the run is over.
    pub open: u64,
    /// Sessions that were counted separately from their requests. Sessions that are one plain
    /// request are not included, see [`Totals::sessions`](crate::Totals::sessions).
    pub sessions: SessionSeries,
    /// Answers by status.
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
    /// first byte − sent.
    pub ttfb: Histogram,
    /// complete − first byte.
    pub transfer: Histogram,
    /// Time of failed requests that are not censored.
    pub failed: Histogram,
    /// TCP connect.
    pub connect: Histogram,
    /// TLS handshake.
    pub tls: Histogram,
    /// Greeting of a protocol.
    pub hello: Histogram,
    /// Round trips of pings.
    pub ping: Histogram,
    /// Pings sent.
    pub pings_sent: u64,
    /// Messages.
    pub messages: MessageCounters,
    /// Offered, done and so on inside the time of the span: what rates are made of.
    pub in_window: RequestCounters,
    /// Length of the span: what rates are divided by.
    pub duration: Nanos,
}

impl TotalsView {
    /// Offered inside the span, per second.
    pub fn offered_per_s(&self) -> f64 {
        per_second(self.in_window.offered, self.duration)
    }

    /// Done inside the span, per second; completions in the drain are in no rate.
    pub fn done_per_s(&self) -> f64 {
        per_second(self.in_window.done, self.duration)
    }

    /// Requests included in `response` with the time they waited because no response came:
    /// timeouts, and requests open at the end.
    pub fn censored(&self) -> u64 {
        (self.response.count() + self.wire.one_way).saturating_sub(self.counters.done)
    }

    /// Whether percentile `q` (0 to 100) of `response` or `lag` is unknown: more requests were
    /// dropped than are above it, and a dropped request is in no histogram. A session that never
    /// started counts as a dropped request.
    pub fn is_unknown(&self, q: f64) -> bool {
        let sessions = self.sessions.counts.dropped();
        is_percentile_dropped(self.counters.dropped() + sessions, self.counters.offered + sessions, q)
    }
}

impl TotalsView {
    pub(crate) fn add_step(&mut self, series: &StepSeries) {
        self.counters.merge(&series.counters);
        self.open += series.open;
        self.status.merge(&series.status);
        self.status.0.sort_unstable();
        self.wire.merge(&series.wire);
        self.response.merge(&series.response);
        self.service.merge(&series.service);
    }

    pub(crate) fn add_sessions(&mut self, series: &SessionSeries) {
        self.sessions.merge(series);
        self.sessions.open += series.open;
    }

    pub(crate) fn add_phase(&mut self, series: &PhaseSeries) {
        self.lag.merge(&series.lag);
        self.wait.merge(&series.wait);
        self.ttfb.merge(&series.ttfb);
        self.transfer.merge(&series.transfer);
        self.failed.merge(&series.failed);
    }
}

/// Whether percentile `q` (0 to 100) of `offered` requests falls among the `dropped`, which have no
/// time: dropped / offered > 1 − q.
pub(crate) fn is_percentile_dropped(dropped: u64, offered: u64, q: f64) -> bool {
    let above = offered as f64 * (100.0 - q) / 100.0;
    // 1 of 100 dropped leaves p99 known, although 99 % is not exact in binary.
    dropped as f64 > above + above * 1e-9 + 1e-9
}

pub(crate) fn per_second(count: u64, length: Nanos) -> f64 {
    if length > Nanos::ZERO { count as f64 / length.as_secs_f64() } else { 0.0 }
}
