//! [`Limits`]: the counted limits of one load thread.

use wavetank_pace::Partition;
use wavetank_plan::Plan;

use crate::budget::Budget;

/// More than any run has in flight.
const UNLIMITED: u64 = u64::MAX >> 8;

/// Counted limits of one thread, per phase.
pub(crate) struct Limits {
    pub(crate) max_open: Vec<Budget>,
    /// Sessions of users that may start.
    pub(crate) sessions: Vec<Option<Budget>>,
}

impl Limits {
    /// Returns the agent's share of each total, split over its threads.
    pub(crate) fn split(plan: &Plan, share: Partition, threads: u64) -> Vec<Self> {
        let mut all: Vec<_> =
            (0..threads).map(|_| Self { max_open: Vec::new(), sessions: Vec::new() }).collect();
        for phase in &plan.phases {
            let (max_open, counted) = if phase.load.is_open() {
                // The schedule itself ends after that number of arrivals.
                (share.count_below(phase.max_open), None)
            } else {
                // Users are their own limit, because each has one request in flight.
                (UNLIMITED, phase.arrivals_max().map(|total| share.count_below(total)))
            };
            for (limits, budget) in all.iter_mut().zip(Budget::split(max_open, threads)) {
                limits.max_open.push(budget);
            }
            let budgets: Vec<_> = match counted {
                Some(total) => Budget::split(total, threads).into_iter().map(Some).collect(),
                None => (0..threads).map(|_| None).collect(),
            };
            for (limits, budget) in all.iter_mut().zip(budgets) {
                limits.sessions.push(budget);
            }
        }
        all
    }
}
