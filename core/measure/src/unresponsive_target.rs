//! [`UnresponsiveDetector`]: detects a target that does not respond at all.

use wavetank_plan::{Condition, LatencyPart, Plan, Subject, Value};
use wavetank_units::Nanos;

use crate::Interval;

/// No target is given less than this to say its first word.
const SILENCE_MIN: Nanos = Nanos::from_secs(5);
/// A silence of this multiple of the time that a threshold allows would violate it, whatever
/// arrived later.
const TIMES: i64 = 2;

/// Detects a run in which requests were sent but no response or failure came for longer than its
/// thresholds allow. Such a level of a search has failed, and the search need not wait until the
/// requests time out.
#[derive(Clone, Debug)]
pub struct UnresponsiveDetector {
    limit: Nanos,
    /// The seal after the first request was sent.
    since: Option<Nanos>,
    until: Nanos,
    resolved: bool,
}

impl UnresponsiveDetector {
    /// Creates a detector for a run of `plan`. `None` if no threshold limits the time of responses
    /// in general. A threshold on a single step does not limit the others, which may legitimately
    /// be slow.
    pub fn for_plan(plan: &Plan) -> Option<Self> {
        let longest = plan.thresholds.iter().filter_map(bears).max()?;
        let limit = SILENCE_MIN.max(Nanos(longest.0.saturating_mul(TIMES)));
        Some(Self { limit, since: None, until: Nanos::ZERO, resolved: false })
    }

    /// Adds one merged interval; intervals arrive in order.
    pub fn add(&mut self, interval: &Interval) {
        self.until = interval.end();
        for series in &interval.steps {
            self.resolved |= series.counters.done + series.counters.failed() > 0;
            if series.counters.sent > 0 {
                self.since.get_or_insert(self.until);
            }
        }
    }

    /// Returns how long nothing has come back, once that is longer than the thresholds allow.
    pub fn exceeded_for(&self) -> Option<Nanos> {
        let lasted = self.until - self.since.filter(|_| !self.resolved)?;
        (lasted >= self.limit).then_some(lasted)
    }
}

/// The time that `condition` allows for any response.
fn bears(condition: &Condition) -> Option<Nanos> {
    let Value::Time(time) = condition.value else { return None };
    let (Subject::Percentile(_, part, None)
    | Subject::Mean(part, None)
    | Subject::Min(part, None)
    | Subject::Max(part, None)) = &condition.subject
    else {
        return None;
    };
    matches!(part, LatencyPart::Response | LatencyPart::Service | LatencyPart::Ttfb).then_some(time)
}
