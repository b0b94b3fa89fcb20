//! [`NewShare`]: another share of the load for the phases that start later.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use wavetank_pace::Partition;
use wavetank_plan::{Phase, Plan};
use wavetank_units::Nanos;

use crate::budget::Budget;

/// Another share of the load, for the phases that start at an instant or later.
#[derive(Clone, Debug)]
pub struct NewShare {
    /// On the run's clock.
    from: Nanos,
    share: Partition,
    threads: u64,
    /// By phase: the requests in flight that the threads have in common.
    remainders: Arc<[Arc<AtomicU64>]>,
}

impl NewShare {
    /// Creates the share of this host in the phases of `plan` that start at `from` or later.
    pub fn new(plan: &Plan, from: Nanos, share: Partition) -> Self {
        let threads = u64::from(plan.threads);
        let remainder = |phase: &Phase| Budget::remainder(share.count_below(phase.max_open), threads);
        Self { from, share, threads, remainders: plan.phases.iter().map(remainder).collect() }
    }

    /// Returns when the share starts.
    pub(crate) const fn from(&self) -> Nanos {
        self.from
    }

    /// Returns the part of one thread.
    pub(crate) fn of_thread(&self, thread: u16) -> Partition {
        self.share.split(self.threads, u64::from(thread))
    }

    /// Returns the limits of one thread on requests in flight, each with the index of its phase.
    pub(crate) fn max_open<'a>(&'a self, plan: &'a Plan, thread: u16) -> impl Iterator<Item = (u16, Budget)> {
        let phases = (0_u16..).zip(&plan.phases).zip(self.remainders.iter());
        let later = phases.filter(|((_, phase), _)| phase.start >= self.from && phase.load.is_open());
        later.map(move |((index, phase), remainder)| {
            let total = self.share.count_below(phase.max_open);
            (index, Budget::part(total, self.threads, u64::from(thread), Arc::clone(remainder)))
        })
    }
}
