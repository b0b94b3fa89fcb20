//! [`SessionFacts`]: what is known of a scenario's session before it is run.

use wavetank_plan::{Action, ConnectionUse, HttpPlan, Nanos, Scenario, Think};

/// Longest exponential pause, in means (cut there when drawn).
const EXPONENTIAL_MAX: i64 = 20;
/// Where normal pauses are cut, in deviations.
const DEVIATIONS_MAX: f64 = 5.0;
/// Deviations between the median and the 95th percentile.
const P95_DEVIATIONS: f64 = 1.645;

/// See the module's description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SessionFacts {
    /// Requests, a user's first and last ones included; `None`: that depends on answers or chance.
    pub(super) requests: Option<u64>,
    /// It lasts this long at most.
    pub(super) longest: Nanos,
    /// Whose connections it uses.
    pub(super) connection: ConnectionUse,
    /// Targets that it goes to, one at least: a connection of its own leads to one.
    pub(super) targets: u64,
}

impl SessionFacts {
    pub(super) fn of(scenario: &Scenario, http: &HttpPlan) -> Self {
        let lists = [&scenario.before, &scenario.journey, &scenario.after];
        let mut requests = lists.iter().map(|list| requests(list));
        let requests = requests.try_fold(0_u64, |sum, own| sum.checked_add(own?));
        let longest = lists.iter().fold(Nanos::ZERO, |sum, list| sum.after(longest(list, scenario, http)));
        let mut targets: Vec<usize> = scenario.steps.iter().map(|step| step.target).collect();
        targets.sort_unstable();
        targets.dedup();
        Self { requests, longest, connection: scenario.connection, targets: targets.len().max(1) as u64 }
    }
}

fn requests(actions: &[Action]) -> Option<u64> {
    actions.iter().try_fold(0_u64, |sum, action| {
        let own = match action {
            Action::Request(_) => 1,
            Action::Group(_, steps) => requests(steps)?,
            Action::Repeat(times, steps) => times.checked_mul(requests(steps)?)?,
            Action::Choose(ways) => {
                let first = requests(&ways.first()?.steps)?;
                let same = ways.iter().all(|way| requests(&way.steps) == Some(first));
                same.then_some(first)?
            }
            Action::While { steps, .. } | Action::Each { steps, .. } => {
                (requests(steps) == Some(0)).then_some(0)?
            }
            Action::If { then, otherwise, .. } => {
                let (then, otherwise) = (requests(then)?, requests(otherwise)?);
                (then == otherwise).then_some(then)?
            }
            Action::EndSession | Action::EndRun => return None,
            Action::Think(_) | Action::Set(..) | Action::Log(_) | Action::Rendezvous(_) => 0,
        };
        sum.checked_add(own)
    })
}

fn longest(actions: &[Action], scenario: &Scenario, http: &HttpPlan) -> Nanos {
    let times =
        |count: u64, length: Nanos| Nanos(length.0.saturating_mul(i64::try_from(count).unwrap_or(i64::MAX)));
    actions.iter().fold(Nanos::ZERO, |sum, action| {
        sum.after(match action {
            Action::Request(step) => scenario.steps[usize::from(*step)].timeout.unwrap_or(http.timeout),
            Action::Think(think) => longest_pause(*think),
            Action::Group(_, steps) => longest(steps, scenario, http),
            Action::Repeat(count, steps) | Action::While { at_most: count, steps, .. } => {
                times(*count, longest(steps, scenario, http))
            }
            // Lists of answers have at most so many items.
            Action::Each { steps, .. } => times(10_000, longest(steps, scenario, http)),
            Action::If { then, otherwise, .. } => {
                longest(then, scenario, http).max(longest(otherwise, scenario, http))
            }
            Action::Choose(ways) => {
                ways.iter().map(|way| longest(&way.steps, scenario, http)).max().unwrap_or(Nanos::ZERO)
            }
            Action::Rendezvous(place) => place.wait,
            Action::Set(..) | Action::Log(_) | Action::EndSession | Action::EndRun => Nanos::ZERO,
        })
    })
}

fn longest_pause(think: Think) -> Nanos {
    match think {
        Think::Fixed(length) => length,
        Think::Even { to, .. } => to,
        Think::Exponential { mean } => Nanos(mean.0.saturating_mul(EXPONENTIAL_MAX)),
        Think::Normal { mean, deviation } => {
            Nanos((mean.0 as f64 + deviation.0 as f64 * DEVIATIONS_MAX) as i64)
        }
        Think::Lognormal { median, p95 } => {
            let deviation = (p95.0 as f64 / (median.0 as f64).max(1.0)).ln() / P95_DEVIATIONS;
            Nanos((median.0 as f64 * (deviation * DEVIATIONS_MAX).exp()) as i64)
        }
    }
}
