//! [`UniqueRows`]: rows that are used once in the whole run, in the order in which sessions start.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use wavetank_journey::Session;
use wavetank_pace::Partition;
use wavetank_plan::{Action, Expr, Plan, RowChoice, Scenario};

/// The unique rows of one load thread; all threads draw from the same rows.
///
/// Threads keep no rows in stock. If one thread held a row while another had none left, a session
/// would fail needlessly. One atomic addition per session costs next to nothing.
#[derive(Clone)]
pub(crate) struct UniqueRows {
    /// By data: how many rows were used.
    given: Arc<[AtomicU64]>,
    /// The rows that belong to this host.
    share: Partition,
    /// By scenario: the data of which each session takes a row, and the data of which a user takes
    /// a row when it starts.
    takes: Arc<[(Vec<u16>, Vec<u16>)]>,
}

impl UniqueRows {
    /// Creates the rows of `plan`, of which `share` may be used.
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

    /// Assigns rows to a session of `scenario` that starts. `first`: it is its user's first
    /// session.
    #[inline]
    pub(super) fn give(&self, scenario: u16, first: bool, session: &mut Session) {
        let (each, once) = &self.takes[usize::from(scenario)];
        for &data in each.iter().chain(once.iter().filter(|_| first)) {
            let number = self.given[usize::from(data)].fetch_add(1, Ordering::Relaxed);
            session.set_row(data, self.share.nth(number));
        }
    }
}

/// Returns the data with unique rows that `lists` of a scenario use.
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
