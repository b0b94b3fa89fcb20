//! [`Pools`]: the stated capacities requested so far.
//!
//! A thread of the server may be killed at any instruction (see `Shared`). So the thread that
//! claims a place also fills it, and other threads wait only briefly for that.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::capacity::{Capacity, DeclaredCapacity};
use crate::tier::{POOLS_FULL, PoolIx, Tier, TierKind, stated};

/// Maximum number of pools. Requests for further capacities get an error response.
const POOLS_MAX: usize = 64;
/// Number of checks for a pool that another thread is making, before it is given up.
const LOOKS_MAX: u32 = 10_000;

/// See the module's description.
#[derive(Debug)]
pub struct Pools {
    places: Vec<Place>,
}

#[derive(Debug, Default)]
struct Place {
    claimed: AtomicBool,
    pool: OnceLock<(TierKind, Capacity)>,
}

impl Default for Pools {
    fn default() -> Self {
        Self { places: std::iter::repeat_with(Place::default).take(POOLS_MAX).collect() }
    }
}

impl Pools {
    /// Returns the tier with the capacity in a query. The error describes the valid parameters.
    pub fn tier(&self, kind: TierKind, query: &[u8]) -> Result<Tier, &'static str> {
        let pool = match stated(query)? {
            None => None,
            Some(stated) => Some(self.find(kind, stated).ok_or(POOLS_FULL)?),
        };
        Ok(Tier { kind, pool })
    }

    /// Returns the pool of this tier with this capacity, shared by all requests for the same one;
    /// `None` if there are too many pools.
    fn find(&self, tier: TierKind, stated: DeclaredCapacity) -> Option<PoolIx> {
        for (index, place) in (0..).zip(&self.places) {
            if place.pool.get().is_none() && !place.claimed.swap(true, Ordering::AcqRel) {
                // Only one thread can claim this place.
                drop(place.pool.set((tier, Capacity::new(stated))));
            }
            if place.made().is_some_and(|(kind, pool)| *kind == tier && pool.stated() == stated) {
                return Some(PoolIx(index));
            }
        }
        None
    }

    /// Returns a pool by its index.
    pub(crate) fn get(&self, pool: PoolIx) -> Option<&Capacity> {
        self.places[usize::from(pool.0)].pool.get().map(|(_, capacity)| capacity)
    }
}

impl Place {
    /// Returns the pool of a claimed place.
    fn made(&self) -> Option<&(TierKind, Capacity)> {
        for _ in 0..LOOKS_MAX {
            if let Some(made) = self.pool.get() {
                return Some(made);
            }
            thread::yield_now();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use wavetank_units::Nanos;

    use super::*;

    #[test]
    fn what_is_asked_for_alike_is_one_pool() {
        let pools = Pools::default();
        let stated = |workers| DeclaredCapacity { workers, work: Nanos(1), queue: 1 };
        let find = |tier, workers| pools.find(tier, stated(workers));
        for workers in 1..POOLS_MAX as u64 {
            assert_eq!(find(TierKind::Query, workers), Some(PoolIx(workers as u16 - 1)));
        }
        assert_eq!(find(TierKind::Query, 3), Some(PoolIx(2)));
        assert_eq!(find(TierKind::Simple, 3), Some(PoolIx(POOLS_MAX as u16 - 1)));
        assert_eq!(find(TierKind::Transaction, 3), None, "there are no more");
        assert_eq!(find(TierKind::Query, 7), Some(PoolIx(6)), "those that are there stay");
    }

    #[test]
    fn threads_that_ask_simultaneously_find_one() {
        let pools = Pools::default();
        let stated = DeclaredCapacity { workers: 1, work: Nanos(1), queue: 1 };
        let found: Vec<_> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(|| pools.find(TierKind::Simple, stated))).collect();
            all.into_iter().map(|one| one.join().expect("no panic")).collect()
        });
        assert!(found.iter().all(|one| *one == Some(PoolIx(0))), "{found:?}");
    }
}
