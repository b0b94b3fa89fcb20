//! [`AgentGauges`]: the gauges of one agent at a seal, for seals that it has no interval for.

use wavetank_plan::Key;
use wavetank_units::Nanos;

use crate::{ErrorClass, Interval};

/// Gauges of one agent when it sealed an interval.
#[derive(Clone, Debug, Default)]
pub(crate) struct AgentGauges {
    /// Start of the interval.
    pub(crate) from: Nanos,
    users: u64,
    opening: u64,
    open: u64,
    /// Requests in flight.
    requests: Vec<(Key, u64)>,
    /// Sessions in progress, by phase and scenario.
    sessions: Vec<((u16, u16), u64)>,
}

impl AgentGauges {
    /// Returns the gauges of `interval`.
    pub(crate) fn of(interval: &Interval) -> Self {
        let requests = interval.steps.iter().filter(|series| series.open > 0);
        let sessions = interval.journeys.sessions.iter().filter(|series| series.open > 0);
        Self {
            from: interval.from,
            users: interval.users,
            opening: interval.conns.opening,
            open: interval.conns.open,
            requests: requests.map(|series| (series.key, series.open)).collect(),
            sessions: sessions.map(|series| ((series.phase, series.scenario), series.open)).collect(),
        }
    }

    /// Adds the gauges to `interval`, unchanged since their seal. An agent that `has_ended` has no
    /// users any more.
    pub(crate) fn hold(&self, interval: &mut Interval, has_ended: bool) {
        interval.users += if has_ended { 0 } else { self.users };
        interval.conns.opening += self.opening;
        interval.conns.open += self.open;
        interval.conns.peak += self.open;
        for &(key, open) in &self.requests {
            interval.step_mut(key).open += open;
        }
        for &((phase, scenario), open) in &self.sessions {
            interval.journeys.sessions_mut(phase, scenario).open += open;
        }
    }

    /// Counts the loss of everything that the agent held. Its connections are lost, its requests
    /// and sessions failed.
    pub(crate) fn lose(&self, interval: &mut Interval) {
        interval.conns.failed += self.opening;
        interval.conns.lost += self.open;
        for &(key, open) in &self.requests {
            interval.step_mut(key).counters.errors[ErrorClass::Other as usize] += open;
        }
        for &((phase, scenario), open) in &self.sessions {
            interval.journeys.sessions_mut(phase, scenario).counts.failed += open;
        }
    }
}
