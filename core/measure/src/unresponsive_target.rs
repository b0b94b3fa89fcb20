//! [`UnresponsiveDetector`]: notices a target that answers nothing at all.

use wavetank_plan::{Condition, LatencyPart, Nanos, Plan, Subject, Value};

use crate::Interval;

/// No target is given less than this to say its first word.
const SILENCE_MIN: Nanos = Nanos::from_secs(5);
/// Who says nothing for so many times as long as a threshold allows would break it with whatever came then.
const TIMES: i64 = 2;

/// Notices a run in which something was sent and nothing came of it, neither an answer nor a failure, for longer than its
/// thresholds could bear. A level of a search that is silent is broken, and need not wait until its requests time out.
#[derive(Clone, Debug)]
pub struct UnresponsiveDetector {
    limit: Nanos,
    /// The seal after the first request was sent.
    since: Option<Nanos>,
    until: Nanos,
    resolved: bool,
}

impl UnresponsiveDetector {
    /// Of a run of `plan`; `None` where no threshold says how long answers as such may take. One about a single step says
    /// nothing of the others, which may be slow by right.
    pub fn for_plan(plan: &Plan) -> Option<Self> {
        let longest = plan.thresholds.iter().filter_map(bears).max()?;
        let limit = SILENCE_MIN.max(Nanos(longest.0.saturating_mul(TIMES)));
        Some(Self { limit, since: None, until: Nanos::ZERO, resolved: false })
    }

    /// Take in one merged interval; they come in order.
    pub fn add(&mut self, interval: &Interval) {
        self.until = interval.end();
        for series in &interval.steps {
            self.resolved |= series.counters.done + series.counters.failed() > 0;
            if series.counters.sent > 0 {
                self.since.get_or_insert(self.until);
            }
        }
    }

    /// For how long nothing came of anything, once that is longer than the run can bear.
    pub fn exceeded_for(&self) -> Option<Nanos> {
        let lasted = self.until - self.since.filter(|_| !self.resolved)?;
        (lasted >= self.limit).then_some(lasted)
    }
}

/// How long `condition` lets any answer take.
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
