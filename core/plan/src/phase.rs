//! [`Phase`]: one stretch of load.

use serde::{Deserialize, Serialize};
use wavetank_units::Nanos;

use crate::{Load, ScenarioMix};

/// One stretch of load with one shape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// Name in reports: `warmup` and `main` in a plain run.
    pub name: String,
    /// Kept apart, judged by nothing.
    pub warmup: bool,
    /// When arrivals start, on the run clock. Several phases may run at the same time.
    pub start: Nanos,
    /// When arrivals end, which is the length of the shape; `None`: only a count ends it. A phase
    /// that another one follows must have a length.
    pub length: Option<Nanos>,
    /// At most this many requests are offered (`-n`).
    pub requests_max: Option<u64>,
    /// At most this many sessions start.
    pub sessions_max: Option<u64>,
    /// The load itself.
    pub load: Load,
    /// The scenarios of its sessions.
    pub mix: ScenarioMix,
    /// Requests offered and unresolved at most; over it arrivals are dropped.
    pub max_open: u64,
    /// Whether the user set `max_open`, or this host's resources lowered it and which ones.
    pub max_open_by: MaxOpenLimit,
    /// Connections at most.
    pub connections: u64,
    /// Open all `connections` before the phase starts, at the rate
    /// [`Plan::open_rate`](crate::Plan::open_rate).
    pub open_before: bool,
}

impl Phase {
    /// The instant arrivals end, if time ends them.
    pub fn end(&self) -> Option<Nanos> {
        self.length.map(|length| self.start.after(length))
    }

    /// Returns whether the phase is active at `at`.
    #[inline]
    pub fn is_active_at(&self, at: Nanos) -> bool {
        self.start <= at && self.end().is_none_or(|end| at < end)
    }

    /// Whether a number of requests or sessions may end it.
    pub fn is_counted(&self) -> bool {
        self.requests_max.is_some() || self.sessions_max.is_some() || self.load.sessions_each().is_some()
    }

    /// Returns the maximum number of open-loop sessions that may start. Both counts limit it where
    /// a session is one request.
    pub fn arrivals_max(&self) -> Option<u64> {
        [self.requests_max, self.sessions_max].into_iter().flatten().min()
    }

    /// Returns the sessions that arrive in [`from`, `until`) of the run clock. The number is exact
    /// for even arrivals and traces, and the mean for Poisson arrivals. `None` where users pace
    /// themselves.
    pub fn sessions_between(&self, from: Nanos, until: Nanos) -> Option<u64> {
        let within = |at: Nanos| {
            let at = at - self.start;
            self.length.map_or(at, |length| at.min(length)).max(Nanos::ZERO)
        };
        let before = |at: Nanos| match &self.load {
            Load::Open { rate, .. } => Some(rate.arrivals_before(at)),
            Load::Trace { times } => Some(times.partition_point(|&time| time < at) as u64),
            Load::Pause => Some(0),
            Load::Closed { .. } | Load::Hold { .. } => None,
        };
        let most = self.sessions_max.unwrap_or(u64::MAX);
        Some(before(within(until))?.min(most) - before(within(from))?.min(most))
    }

    /// Target number of users or held connections at `at` on the run clock; `None` in the open
    /// model.
    pub fn users_at(&self, at: Nanos) -> Option<u64> {
        let levels = self.load.levels()?;
        Some(if self.is_active_at(at) { levels.at(at - self.start) } else { 0 })
    }
}

/// The origin of `max_open`. It decides the blame for a request dropped at the limit
/// (`docs/measuring.md` §2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MaxOpenLimit {
    /// The user, or rate × timeout: a drop there is the target's.
    Plan,
    /// This host's file limit: drops carry `no_files`.
    Files,
    /// This host's memory: drops carry `no_memory`.
    Memory,
    /// Too few (source, port) tuples: drops carry `no_source_address`.
    Sources,
}
