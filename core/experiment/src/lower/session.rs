//! [`SessionFacts`]: what is known of a scenario's session before it is run.

use wavetank_plan::{Action, ConnectionUse, HttpPlan, Nanos, Scenario};

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
        let longest = scenario.longest(http.timeout);
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
