//! [`Scenario::max_duration`]: how long a session may last.

use wavetank_units::Nanos;

use super::{Action, Extract};
use crate::Scenario;

impl Scenario {
    /// Returns the longest possible duration of a session, including its user's first and last
    /// steps. Every request takes its whole timeout (`timeout` where it has none), every pause its
    /// longest time, and every rendezvous its whole wait.
    pub fn max_duration(&self, timeout: Nanos) -> Nanos {
        let lists = [&self.before, &self.journey, &self.after];
        lists.iter().fold(Nanos::ZERO, |sum, list| sum.after(self.longest_of(list, timeout)))
    }

    fn longest_of(&self, actions: &[Action], timeout: Nanos) -> Nanos {
        let of = |steps: &[Action]| self.longest_of(steps, timeout);
        let times = |count: u64, length: Nanos| {
            Nanos(length.0.saturating_mul(i64::try_from(count).unwrap_or(i64::MAX)))
        };
        let own = |action: &Action| match action {
            Action::Request(step) => {
                self.steps.get(usize::from(*step)).and_then(|step| step.timeout).unwrap_or(timeout)
            }
            Action::Think(think) => think.longest(),
            Action::Group(_, steps) => of(steps),
            Action::Repeat(count, steps) | Action::While { at_most: count, steps, .. } => {
                times(*count, of(steps))
            }
            Action::Each { steps, .. } => times(Extract::ITEMS_MAX as u64, of(steps)),
            Action::If { then, otherwise, .. } => of(then).max(of(otherwise)),
            Action::Choose(ways) => ways.iter().map(|way| of(&way.steps)).max().unwrap_or(Nanos::ZERO),
            Action::Rendezvous(place) => place.wait,
            Action::Set(..) | Action::Log(_) | Action::EndSession | Action::EndRun => Nanos::ZERO,
        };
        actions.iter().fold(Nanos::ZERO, |sum, action| sum.after(own(action)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConnectionOwner, RequestPlan, Step, Think};

    #[test]
    fn everything_takes_as_long_as_it_may() {
        let s = Nanos::from_secs;
        let mut steps =
            vec![Step::plain("a", 0, RequestPlan::default()), Step::plain("b", 0, RequestPlan::default())];
        steps[1].timeout = Some(s(3));
        let mut scenario = Scenario::from_steps("", ConnectionOwner::User, steps);
        let mut check = |journey: Vec<Action>, seconds: i64| {
            scenario.journey = journey;
            let expected = Nanos(seconds.saturating_mul(1_000_000_000));
            assert_eq!(scenario.max_duration(s(10)), expected, "{:?}", scenario.journey);
        };
        let [own, other] = [0, 1].map(Action::Request);
        let pause = || Action::Think(Think::Even { from: s(1), to: s(2) });
        check(vec![own.clone(), pause(), other.clone()], 15);
        check(vec![Action::Repeat(4, vec![Action::Group(0, vec![other.clone(), pause()])])], 20);
        check(vec![Action::Each { list: 0, name: 1, steps: vec![pause()] }], 20_000);
        check(vec![Action::Think(Think::Exponential { mean: s(3) }), Action::EndSession], 60);
        check(vec![Action::Think(Think::Exponential { mean: s(80_000) })], 86_400);
        // What lasts for ever does not come round again.
        check(vec![Action::Repeat(u64::MAX, vec![own]), other], i64::MAX);
    }
}
