//! [`Scenario::busy_share`]: the share of a scenario's users that have an open request at the same
//! time.

use wavetank_units::Nanos;

use super::Action;
use crate::delay_in_path;
use crate::{Extract, Scenario, Step};

/// Planned duration of a response if its path names none. It is much longer than expected, so that
/// a slow target does not overload the load-generating host.
const ANSWER: Nanos = Nanos::SECOND;

/// Nanoseconds that a stretch of a journey waits for answers, and that it pauses.
#[derive(Clone, Copy, Default)]
struct Stretch {
    busy: f64,
    pause: f64,
}

impl Scenario {
    /// Returns the share (0 to 1) of a scenario's users that have an open request at the same time.
    /// It is 1 where users wait for each other and continue together, or never pause. Otherwise it
    /// follows from the expected times of responses and pauses. `timeout` ends requests without
    /// their own timeout.
    pub fn busy_share(&self, timeout: Nanos) -> f64 {
        if self.steps.is_empty() {
            return 0.0;
        }
        let lists = [&self.before, &self.journey, &self.after];
        if lists.iter().any(|list| meets(list)) {
            return 1.0;
        }
        // Only users that have just arrived or are about to leave run the first and last steps.
        // These form a separate stretch, which may have no pause.
        let around = lists[0].iter().chain(lists[2]).any(requests);
        let session = self.stretch(lists[1], timeout);
        let pause = self.pace.map_or(session.pause, |pace| session.pause.max(pace.0 as f64 - session.busy));
        let all = session.busy + pause;
        let share = if all > 0.0 { session.busy / all } else { 0.0 };
        if around { share.max(ANSWER.0 as f64 / (ANSWER.0 as f64 + pause)) } else { share }
    }

    fn stretch(&self, actions: &[Action], timeout: Nanos) -> Stretch {
        let of = |steps: &[Action]| self.stretch(steps, timeout);
        let times = |count: u64, one: Stretch| Stretch {
            busy: one.busy * count as f64,
            pause: one.pause * count as f64,
        };
        // Of several branches, assume the one that waits most and pauses least.
        let worst = |one: Stretch, other: Stretch| Stretch {
            busy: one.busy.max(other.busy),
            pause: one.pause.min(other.pause),
        };
        let own = |action: &Action| match action {
            Action::Request(step) => Stretch {
                busy: self.steps.get(usize::from(*step)).map_or(0.0, |step| answer(step, timeout).0 as f64),
                pause: 0.0,
            },
            Action::Think(think) => Stretch { busy: 0.0, pause: think.mean().0 as f64 },
            // The number of turns while a check holds is unknown. One turn and endless turns give
            // the same share.
            Action::Group(_, steps) | Action::While { steps, .. } => of(steps),
            Action::Repeat(count, steps) => times(*count, of(steps)),
            Action::Each { steps, .. } => times(Extract::ITEMS_MAX as u64, of(steps)),
            Action::If { then, otherwise, .. } => worst(of(then), of(otherwise)),
            Action::Choose(ways) => ways.iter().map(|way| of(&way.steps)).reduce(worst).unwrap_or_default(),
            Action::Rendezvous(_)
            | Action::Set(..)
            | Action::Log(_)
            | Action::EndSession
            | Action::EndRun => Stretch::default(),
        };
        actions.iter().map(own).fold(Stretch::default(), |sum, one| Stretch {
            busy: sum.busy + one.busy,
            pause: sum.pause + one.pause,
        })
    }
}

/// How long the answer to a step is planned to take.
fn answer(step: &Step, timeout: Nanos) -> Nanos {
    let timeout = step.timeout.unwrap_or(timeout);
    delay_in_path(&step.request.path.shown()).map_or(ANSWER, |delay| delay.after(ANSWER)).min(timeout)
}

fn meets(actions: &[Action]) -> bool {
    actions.iter().any(|action| matches!(action, Action::Rendezvous(_)) || action.inside().any(meets))
}

fn requests(action: &Action) -> bool {
    matches!(action, Action::Request(_)) || action.inside().any(|steps| steps.iter().any(requests))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConnectionOwner, Rendezvous, RequestPlan, Template, Think};

    fn scenario(path: &str, journey: Vec<Action>) -> Scenario {
        let request = RequestPlan { path: Template::fixed(path), ..RequestPlan::default() };
        let steps = vec![Step::plain("a", 0, request)];
        Scenario { journey, ..Scenario::from_steps("", ConnectionOwner::User, steps) }
    }

    #[test]
    fn answers_and_pauses_take_turns() {
        let s = Nanos::from_secs;
        let check = |path: &str, journey: Vec<Action>, share: f64| {
            let found = scenario(path, journey).busy_share(s(60));
            assert!((found - share).abs() < 1e-9, "{path}: {found}, not {share}");
        };
        let ask = || Action::Request(0);
        let think = |seconds| Action::Think(Think::Fixed(s(seconds)));
        check("/ping", vec![ask(), think(59)], 1.0 / 60.0);
        check("/ping", vec![ask()], 1.0);
        check("/delay/19s", vec![ask(), think(20)], 0.5);
        check("/delay/100s", vec![ask(), think(60)], 0.5);
        check("/ping", vec![Action::Repeat(3, vec![ask(), think(4)])], 0.2);
        let place = Rendezvous { place: 0, wait: s(9), of: None };
        check("/ping", vec![think(59), Action::Group(0, vec![Action::Rendezvous(place)]), ask()], 1.0);
        let way = |steps| crate::Choice { weight: 1, steps };
        check("/ping", vec![Action::Choose(vec![way(vec![ask(), think(9)]), way(vec![think(20)])])], 0.1);
    }

    #[test]
    fn silence_is_never_busy() {
        let silent = Scenario::from_steps("", ConnectionOwner::User, Vec::new());
        assert!(silent.busy_share(Nanos::SECOND).abs() < f64::EPSILON);
        let mut paced = scenario("/ping", vec![Action::Request(0)]);
        paced.pace = Some(Nanos::from_secs(10));
        assert!((paced.busy_share(Nanos::from_secs(60)) - 0.1).abs() < 1e-9);
    }
}
