//! [`UniqueRows`]: rows that are given out once in the whole run, in the order in which sessions start.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use wavetank_journey::Session;
use wavetank_pace::Partition;
use wavetank_plan::{Action, Expr, Plan, RowChoice, Scenario};

/// One for each load thread; they draw from the same. Rows are not kept in stock by threads: a row that one thread holds
/// while another has none left would be a session failed for nothing, and one addition a session costs next to nothing.
#[derive(Clone)]
pub(crate) struct UniqueRows {
    /// By data: how many were given out.
    given: Arc<[AtomicU64]>,
    /// Which rows are this host's.
    share: Partition,
    /// By scenario: what each of its sessions takes a row of, and what a user takes one of when he comes.
    takes: Arc<[(Vec<u16>, Vec<u16>)]>,
}

impl UniqueRows {
    /// Those of `plan`, of which `share` may be used.
    pub(crate) fn new(plan: &Plan, share: Partition) -> Self {
        let data = plan.shared.data.iter().map(|_| AtomicU64::new(0));
        let takes = plan.scenarios.iter().map(|scenario| {
            let each = named(plan, scenario, &[&scenario.journey]);
            let once = named(plan, scenario, &[&scenario.before, &scenario.after]);
            let once = once.into_iter().filter(|data| !each.contains(data)).collect();
            (each, once)
        });
        Self { given: data.collect(), share, takes: takes.collect() }
    }

    /// A session of `scenario` begins, which is its user's `first`: it gets its rows.
    #[inline]
    pub(super) fn give(&self, scenario: u16, first: bool, session: &mut Session) {
        let (each, once) = &self.takes[usize::from(scenario)];
        for &data in each.iter().chain(once.iter().filter(|_| first)) {
            let number = self.given[usize::from(data)].fetch_add(1, Ordering::Relaxed);
            session.set_row(data, self.share.nth(number));
        }
    }
}

/// Data whose rows are unique and that `lists` of a scenario name.
fn named(plan: &Plan, scenario: &Scenario, lists: &[&[Action]]) -> Vec<u16> {
    let mut found = Vec::new();
    for list in lists {
        scenario.each_expr(list, &mut |expr| {
            if let Expr::Column { data, .. } = expr
                && plan.shared.data[usize::from(*data)].row == RowChoice::Unique
            {
                found.push(*data);
            }
        });
    }
    found.sort_unstable();
    found.dedup();
    found
}
