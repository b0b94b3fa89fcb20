//! [`Impact`]: what clients saw of something that was done to a host while the load ran.

use wavetank_units::Nanos;

use crate::{Histogram, Interval, PhaseWindows, RequestCounters};

/// The effect of one of the plan's events on clients, and how long clients took to recover.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Impact {
    /// Index into the plan's events.
    pub event: u16,
    /// When the event was carried out, on the run's clock.
    pub from: Nanos,
    /// When the event was reverted; `None`: not while the load ran.
    pub until: Option<Nanos>,
    /// Baseline: the seconds before the event, [`Impact::BEFORE`] at most, without those that an
    /// earlier event made worse.
    pub before: ClientWindow,
    /// From the second in which the event was carried out to the one in which it was reverted, both
    /// included.
    pub during: ClientWindow,
    /// After that, until clients had recovered for [`Impact::WELL`], or the load ended.
    pub after: ClientWindow,
    /// The total time in which results were worse than the baseline.
    pub hurt: Nanos,
    /// The recovery of clients.
    pub recovery: Recovery,
}

impl Impact {
    /// Length of the baseline before an event.
    pub const BEFORE: Nanos = Nanos::from_secs(10);
    /// How long results must stay at the baseline, without a break, to count as recovered.
    pub const WELL: Nanos = Nanos::from_secs(3);
    /// A second is worse than the baseline if its share of failed or dropped requests is higher by
    /// more than this.
    pub const SHARE_SLACK: f64 = 0.01;
    /// A second is worse if less than this part of what was done before is done, of as much demand.
    pub const DONE_SHARE: f64 = 0.9;
    /// A second is worse if its p99 is above this multiple of the slowest baseline second's p99.
    pub const SLOWER: u64 = 2;
    /// A smaller difference of the p99 does not count.
    pub const SLOWER_MIN: Nanos = Nanos::from_millis(10);
}

/// How clients recovered from an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// The load ended too early after the event to decide.
    #[default]
    Unknown,
    /// No second was worse than those before.
    Unhurt,
    /// Clients recovered while the event still lasted, this long after it was carried out.
    During(Nanos),
    /// Clients recovered only after the event was reverted, this long after that.
    After(Nanos),
    /// Results were still worse within the last [`Impact::WELL`] of the load.
    Never,
}

/// Client-side results over a period of time, without warm-up keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClientWindow {
    /// Its length: the sum of its intervals.
    pub time: Nanos,
    /// Requests.
    pub counters: RequestCounters,
    /// complete − intended, with the time waited of censored requests.
    pub response: Histogram,
    /// Connections that ended although the plan still needed them.
    pub lost: u64,
}

impl ClientWindow {
    /// Extracts the client-side results of `interval`.
    pub(crate) fn from_interval(interval: &Interval, spans: &PhaseWindows) -> Self {
        let mut seen = Self { time: interval.len, lost: interval.conns.lost, ..Self::default() };
        for series in interval.steps.iter().filter(|series| !spans.is_warmup(series.key.phase)) {
            seen.counters.merge(&series.counters);
            seen.response.merge(&series.response);
        }
        seen
    }

    /// Adds the results of another period.
    pub fn merge(&mut self, other: &Self) {
        self.time = self.time.after(other.time);
        self.counters.merge(&other.counters);
        self.response.merge(&other.response);
        self.lost += other.lost;
    }

    /// The share of what was resolved that failed or was dropped; 0 where nothing was resolved.
    pub fn failed_share(&self) -> f64 {
        let bad = self.counters.failed() + self.counters.dropped();
        let all = bad + self.counters.done;
        if all == 0 { 0.0 } else { bad as f64 / all as f64 }
    }

    /// Something that was counted `n` times in it, per second of it; 0 where it has no length.
    pub fn per_s(&self, n: u64) -> f64 {
        crate::view::per_second(n, self.time)
    }
}
