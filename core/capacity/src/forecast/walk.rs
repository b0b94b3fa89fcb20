//! [`ActionWalker`]: through a scenario's actions, counting what is sent and what time it takes.

use super::list_cost::pause;
use super::{BoundedEstimate, ListCost};
use wavetank_plan::delay_in_path;
use wavetank_plan::{Action, Choice, Extract, Plan, Scenario};

/// Whether what follows is still done.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ControlFlow {
    Goes,
    May,
    Ends,
}

/// Goes through a scenario's lists and counts.
pub(super) struct ActionWalker<'p> {
    pub(super) scenario: &'p Scenario,
    pub(super) plan: &'p Plan,
    /// Requests of each step so far.
    pub(super) steps: Vec<BoundedEstimate>,
    /// Passages of each group so far.
    pub(super) groups: Vec<BoundedEstimate>,
    pub(super) ends_run: bool,
}

impl ActionWalker<'_> {
    /// Goes through `actions`, which a session does `factor` times.
    pub(super) fn list(&mut self, actions: &[Action], factor: BoundedEstimate) -> (ListCost, ControlFlow) {
        let (mut sum, mut flow) = (ListCost::NOTHING, ControlFlow::Goes);
        for action in actions {
            if flow == ControlFlow::Ends {
                break;
            }
            let doubt = flow == ControlFlow::May;
            let (own, after) = self.one(action, if doubt { factor.or_zero() } else { factor });
            sum = sum.plus(if doubt { own.maybe() } else { own });
            flow = flow.max(if doubt { after.min(ControlFlow::May) } else { after });
        }
        (sum, flow)
    }

    fn one(&mut self, action: &Action, factor: BoundedEstimate) -> (ListCost, ControlFlow) {
        let known = ListCost::NOTHING;
        match action {
            Action::Request(step) => (self.request(*step, factor), ControlFlow::Goes),
            Action::Think(think) => (ListCost { think_ns: pause(*think), ..known }, ControlFlow::Goes),
            Action::Rendezvous(place) => {
                let wait = BoundedEstimate::between(0.0, Some(place.wait.0 as f64));
                (ListCost { think_ns: wait, ..known }, ControlFlow::Goes)
            }
            Action::Group(group, steps) => {
                if let Some(count) = self.groups.get_mut(usize::from(*group)) {
                    *count = count.plus(factor);
                }
                self.list(steps, factor)
            }
            Action::Repeat(times, steps) => self.repeat(*times, steps, factor),
            Action::While { at_most, steps, .. } => self.perhaps(*at_most as f64, steps, factor),
            Action::Each { steps, .. } => self.perhaps(Extract::ITEMS_MAX as f64, steps, factor),
            Action::If { then, otherwise, .. } => {
                let (one, other) =
                    (self.list(then, factor.or_zero()), self.list(otherwise, factor.or_zero()));
                let flow = if one.1 == other.1 { one.1 } else { ControlFlow::May };
                (one.0.or(other.0), flow)
            }
            Action::Choose(ways) => self.choose(ways, factor),
            Action::EndSession => (known, ControlFlow::Ends),
            Action::EndRun => {
                self.ends_run = true;
                (known, ControlFlow::Ends)
            }
            Action::Set(..) | Action::Log(_) => (known, ControlFlow::Goes),
        }
    }

    fn request(&mut self, step: u16, factor: BoundedEstimate) -> ListCost {
        let at = usize::from(step);
        if let Some(count) = self.steps.get_mut(at) {
            *count = count.plus(factor);
        }
        let path = self.scenario.steps.get(at).and_then(|step| delay_in_path(&step.request.path.shown()));
        let timeout = self.scenario.steps.get(at).and_then(|step| step.timeout);
        let timeout = timeout.unwrap_or(self.plan.http.timeout);
        let delay = path.map_or(0.0, |delay| delay.min(timeout).0 as f64);
        ListCost {
            requests: BoundedEstimate::exact(1.0),
            delay_ns: BoundedEstimate::exact(delay),
            ..ListCost::NOTHING
        }
    }

    fn repeat(&mut self, times: u64, steps: &[Action], factor: BoundedEstimate) -> (ListCost, ControlFlow) {
        if times == 0 {
            return (ListCost::NOTHING, ControlFlow::Goes);
        }
        let count = BoundedEstimate::exact(times as f64);
        match flow(steps) {
            ControlFlow::Goes => {
                let (own, flow) = self.list(steps, factor.times(count));
                (own.times(count), flow)
            }
            ControlFlow::Ends => self.list(steps, factor),
            ControlFlow::May => {
                let count = BoundedEstimate::between(1.0, Some(times as f64));
                let (own, flow) = self.list(steps, factor.times(count));
                (own.times(count), flow)
            }
        }
    }

    /// From never to `most` times.
    fn perhaps(&mut self, most: f64, steps: &[Action], factor: BoundedEstimate) -> (ListCost, ControlFlow) {
        let count = BoundedEstimate::between(0.0, Some(most));
        let (own, flow) = self.list(steps, factor.times(count));
        (own.times(count), flow.min(ControlFlow::May))
    }

    fn choose(&mut self, ways: &[Choice], factor: BoundedEstimate) -> (ListCost, ControlFlow) {
        let total: f64 = ways.iter().map(|way| way.weight as f64).sum();
        let mut all: Option<(ListCost, ControlFlow)> = None;
        let mut mean = [Some(0.0); 3];
        for way in ways {
            let share = way.weight as f64 / total.max(1.0);
            let taken = BoundedEstimate { mean: factor.mean.map(|mean| mean * share), ..factor.or_zero() };
            let taken = if ways.len() == 1 { factor } else { taken };
            let (own, flow) = self.list(&way.steps, taken);
            for (sum, amount) in mean.iter_mut().zip([own.requests, own.think_ns, own.delay_ns]) {
                *sum = sum.zip(amount.mean).map(|(sum, mean)| sum + mean * share);
            }
            all = Some(all.map_or((own, flow), |(before, known)| {
                (before.or(own), if known == flow { flow } else { ControlFlow::May })
            }));
        }
        let (mut sum, flow) = all.unwrap_or((ListCost::NOTHING, ControlFlow::Goes));
        [sum.requests.mean, sum.think_ns.mean, sum.delay_ns.mean] = mean;
        (sum, flow)
    }
}

/// Whether these end the session.
fn flow(actions: &[Action]) -> ControlFlow {
    let one = |action: &Action| match action {
        Action::EndSession | Action::EndRun => ControlFlow::Ends,
        Action::Group(_, steps) | Action::Repeat(1.., steps) => flow(steps),
        Action::While { steps, .. } | Action::Each { steps, .. } => flow(steps).min(ControlFlow::May),
        Action::If { then, otherwise, .. } => merged([then, otherwise].into_iter()),
        Action::Choose(ways) => merged(ways.iter().map(|way| &way.steps)),
        _ => ControlFlow::Goes,
    };
    actions.iter().map(one).max().unwrap_or(ControlFlow::Goes)
}

/// Combines several branches of which one is taken.
fn merged<'a>(ways: impl Iterator<Item = &'a Vec<Action>>) -> ControlFlow {
    ways.map(|way| flow(way))
        .reduce(|one, other| if one == other { one } else { ControlFlow::May })
        .unwrap_or(ControlFlow::Goes)
}
