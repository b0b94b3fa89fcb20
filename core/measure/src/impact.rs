//! [`Impact`]: what clients saw of something that was done to a host while the load ran.

use wavetank_plan::Nanos;

use crate::{Histogram, Interval, PhaseWindows, RequestCounters};

/// What clients saw of one of the plan's events, and how long it took until they fared again as before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Impact {
    /// Index into the plan's events.
    pub event: u16,
    /// When it was done, on the run's clock.
    pub from: Nanos,
    /// When it was taken back; `None`: not while the load ran.
    pub until: Option<Nanos>,
    /// The seconds ahead of it, [`Impact::BEFORE`] at most, without those that an earlier event made worse: what the others
    /// are held against.
    pub before: ClientWindow,
    /// From the second in which it was done to that in which it was taken back, both included.
    pub during: ClientWindow,
    /// From then on, until clients had fared as before for [`Impact::WELL`], or the load ended.
    pub after: ClientWindow,
    /// How much of the time clients fared worse than before.
    pub hurt: Nanos,
    /// How it ended for clients.
    pub recovery: Recovery,
}

impl Impact {
    /// How far back it is looked for how clients fared before.
    pub const BEFORE: Nanos = Nanos::from_secs(10);
    /// How long clients must fare as before, without a break, to have recovered.
    pub const WELL: Nanos = Nanos::from_secs(3);
    /// A second is worse than those before if the share of its requests that failed or were dropped is higher by more.
    pub const SHARE_SLACK: f64 = 0.01;
    /// A second is worse if less than this part of what was done before is done, of as much demand.
    pub const DONE_SHARE: f64 = 0.9;
    /// A second is worse if its p99 is above so many times that of the slowest second before.
    pub const SLOWER: u64 = 2;
    /// But not if it is above it by less than this.
    pub const SLOWER_MIN: Nanos = Nanos::from_millis(10);
}

/// How something that was done to a host ended for clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// Too little of the load came after it to tell.
    #[default]
    Unknown,
    /// No second was worse than those before.
    Unhurt,
    /// They fared as before while it still lasted: so long after it was done.
    During(Nanos),
    /// They fared as before only after it had been taken back: so long after that.
    After(Nanos),
    /// They still fared worse within the last [`Impact::WELL`] of the load.
    Never,
}

/// What clients saw in a stretch of time. Warm-up keys are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClientWindow {
    /// How long it was: the sum of the intervals in it.
    pub time: Nanos,
    /// Requests.
    pub counters: RequestCounters,
    /// complete − intended, with the time waited of censored requests.
    pub response: Histogram,
    /// Connections that ended although the plan still wanted them.
    pub lost: u64,
}

impl ClientWindow {
    /// What `interval` tells.
    pub(crate) fn from_interval(interval: &Interval, spans: &PhaseWindows) -> Self {
        let mut seen = Self { time: interval.len, lost: interval.conns.lost, ..Self::default() };
        for series in interval.steps.iter().filter(|series| !spans.is_warmup(series.key.phase)) {
            seen.counters.merge(&series.counters);
            seen.response.merge(&series.response);
        }
        seen
    }

    /// Add what was seen in another stretch of time.
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
