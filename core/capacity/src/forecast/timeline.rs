//! [`Timeline`]: the load over time.

use wavetank_units::Nanos;

use super::SessionForecast;
use wavetank_plan::{Load, Phase, Plan};

/// Points of a timeline at most; where there were more, each covers a longer time.
pub const POINTS_MAX: usize = 20_000;
/// Lengths that a point may have, in seconds.
const LENGTHS_S: [i64; 12] = [1, 2, 5, 10, 30, 60, 300, 600, 1_800, 3_600, 21_600, 86_400];

/// The planned load over time. Rates are means of each stretch, levels are values at its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// Start of the first point, on the run clock.
    pub from: Nanos,
    /// How long each point lasts; the last one may be shorter.
    pub every: Nanos,
    /// One after the other.
    pub points: Vec<TimelinePoint>,
}

/// The target load in one stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimelinePoint {
    /// Sessions that arrive, a second.
    pub sessions_per_s: f64,
    /// Requests that those sessions will send, a second; `None` where that depends on answers.
    pub requests_per_s: Option<f64>,
    /// Target number of users.
    pub users: u64,
    /// Target number of held connections.
    pub held: u64,
}

impl Timeline {
    /// Computes the timeline from the first phase's start to `until`; empty if that span is empty.
    pub(super) fn for_plan(plan: &Plan, scenarios: &[SessionForecast], until: Nanos) -> Self {
        let from = plan.phases.iter().map(|phase| phase.start).min().unwrap_or(Nanos::ZERO);
        let length = until.since(from);
        let fits = |seconds: &i64| length / (*seconds as u64 * 1_000_000_000) < POINTS_MAX as u64;
        let seconds = LENGTHS_S.into_iter().find(fits).unwrap_or(i64::from(u32::MAX));
        let every = Nanos::from_secs(seconds);
        let each: Vec<Option<f64>> =
            plan.phases.iter().map(|phase| requests_each(phase, scenarios)).collect();
        let mut points = Vec::new();
        let mut at = from;
        while at < until && points.len() <= POINTS_MAX {
            let next = at.after(every).min(until);
            points.push(TimelinePoint::between(plan, &each, (at, next), every));
            at = next;
        }
        Self { from, every, points }
    }

    /// When point number `at` ends, if the load lasts to `until`.
    pub fn end_of(&self, at: usize, until: Nanos) -> Nanos {
        Nanos(self.from.0.saturating_add(self.every.0.saturating_mul(at as i64 + 1))).min(until)
    }
}

impl TimelinePoint {
    fn between(plan: &Plan, each: &[Option<f64>], (from, until): (Nanos, Nanos), every: Nanos) -> Self {
        let mut point = Self { sessions_per_s: 0.0, requests_per_s: Some(0.0), users: 0, held: 0 };
        for (phase, each) in plan.phases.iter().zip(each) {
            if phase.start >= until || phase.end().is_some_and(|end| end <= from) {
                continue;
            }
            if let Some(arrive) = phase.sessions_between(from, until) {
                // A trace has instants and no rate: its end just after the last of them must not
                // make a rate of a nanosecond.
                let over = if matches!(phase.load, Load::Trace { .. }) { every } else { until - from };
                let rate = arrive as f64 / over.as_secs_f64();
                point.sessions_per_s += rate;
                let requests = if arrive == 0 { Some(0.0) } else { each.map(|each| rate * each) };
                point.requests_per_s = point.requests_per_s.zip(requests).map(|(sum, own)| sum + own);
            }
            // The target value just before the stretch ends: at the end itself the next phase may
            // have started.
            let last = until.min(phase.end().unwrap_or(until)) - Nanos(1);
            let ended = phase.end().is_some_and(|end| end < until);
            let level = if ended { 0 } else { phase.users_at(last).unwrap_or(0) };
            match phase.load {
                Load::Closed { .. } => point.users = point.users.saturating_add(level),
                Load::Hold { .. } => point.held = point.held.saturating_add(level),
                _ => {}
            }
        }
        point
    }
}

/// Requests of one session of the phase's mix on average.
fn requests_each(phase: &Phase, scenarios: &[SessionForecast]) -> Option<f64> {
    phase.mix.parts().iter().try_fold(0.0, |sum, &(at, weight)| {
        let each = scenarios.get(usize::from(at))?.whole().requests.mean?;
        Some(sum + each * weight as f64 / phase.mix.total() as f64)
    })
}
