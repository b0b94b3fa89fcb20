//! The number of requests of a session, if it is known in advance.

use super::Action;
use crate::Scenario;

impl Scenario {
    /// Returns the number of requests of a user with one session, including its first and last
    /// ones. `None` if the number depends on responses or chance, or overflows.
    pub fn requests(&self) -> Option<u64> {
        let lists = [&self.before, &self.journey, &self.after];
        let mut requests = lists.iter().map(|list| requests(list));
        requests.try_fold(0_u64, |sum, own| sum.checked_add(own?))
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
