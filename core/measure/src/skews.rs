//! [`RendezvousSkew`]: evaluates one condition on the skew of rendezvous releases, the time between
//! the first and the last request of users who left together.

use wavetank_plan::Condition;
use wavetank_units::{Nanos, phrase, sentence};

use crate::condition_outcome::record_worst;
use crate::outcome::{ConditionResult, Scope};
use crate::{Interval, RendezvousRelease};

/// Most releases that still wait for requests; older ones are judged with the requests seen so far.
const AWAITED_MAX: usize = 1_000;

/// The meetings at one place, second by second.
#[derive(Clone, Debug, Default)]
pub(crate) struct RendezvousSkew {
    /// The latest releases: more of their requests may still be reported.
    awaited: Vec<RendezvousRelease>,
    /// The worst of the others, with the first request of it.
    worst: Option<(Nanos, ConditionResult)>,
    /// Releases that were only counted, so their skew is unknown.
    untold: u64,
    /// A release reported in the latest interval has too much skew.
    broken_now: bool,
}

impl RendezvousSkew {
    /// Adds the releases in `interval` at `place`, limited to the phases for which `judged` returns
    /// true.
    pub(crate) fn add(
        &mut self,
        condition: &Condition,
        place: u16,
        interval: &Interval,
        judged: impl Fn(u16) -> bool,
    ) {
        self.untold += interval.journeys.meetings_untold;
        self.broken_now = false;
        let reported = interval.journeys.meetings.iter();
        for meeting in reported.filter(|meeting| meeting.place == place && judged(meeting.phase)) {
            let known = self.awaited.iter().rposition(|known| known.name() == meeting.name());
            let at = known.unwrap_or_else(|| {
                self.make_room(condition);
                self.awaited.push(RendezvousRelease { sent: 0, present: 0, ..*meeting });
                self.awaited.len() - 1
            });
            self.awaited[at].merge(meeting);
            let outcome = judge(condition, &self.awaited[at]);
            self.broken_now |= outcome.is_some_and(|(_, outcome)| outcome.ok == Some(false));
        }
    }

    /// Whether the latest interval contains a skew that violates the condition.
    pub(crate) const fn is_violated(&self) -> bool {
        self.broken_now
    }

    /// The worst of all, with its first request.
    pub(crate) fn worst(&self, condition: &Condition) -> (Option<Nanos>, ConditionResult) {
        let mut worst = self.worst.clone();
        for (at, outcome) in self.awaited.iter().filter_map(|meeting| judge(condition, meeting)) {
            record_worst(&mut worst, at, outcome, condition);
        }
        match worst {
            Some((at, outcome)) if outcome.ok == Some(true) && self.untold > 0 => {
                let why = sentence!("{} more meetings were not timed", self.untold);
                (Some(at), ConditionResult { ok: None, why: Some(why), ..outcome })
            }
            Some((at, outcome)) => (Some(at), outcome),
            None => (None, ConditionResult::undecided(phrase!("no users met there"))),
        }
    }

    fn make_room(&mut self, condition: &Condition) {
        if self.awaited.len() >= AWAITED_MAX
            && let Some((at, outcome)) = judge(condition, &self.awaited.remove(0))
        {
            record_worst(&mut self.worst, at, outcome, condition);
        }
    }
}

/// One meeting against the condition; `None` before its first request.
fn judge(condition: &Condition, meeting: &RendezvousRelease) -> Option<(Nanos, ConditionResult)> {
    let skew = meeting.skew()?;
    let scope = Scope { windowed: false, planned: 0 };
    Some((meeting.first_sent, ConditionResult::evaluate_gauge(condition, skew.0.unsigned_abs(), scope)))
}
