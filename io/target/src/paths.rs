//! [`PathCache`]: the route and the counter of the last request's path.

use std::collections::HashMap;
use std::sync::Arc;

use wavetank_shop::{Pools, TierKind};

use crate::event_stream::EventSchedule;
use crate::route::{Route, path, query};
use crate::truth::{Counts, PathSlot};

/// Most requests have the same target as the one before: comparing is cheaper than parsing and
/// hashing.
#[derive(Debug)]
pub(crate) struct PathCache {
    any: bool,
    pools: Arc<Pools>,
    last: Option<(Vec<u8>, Route, PathSlot)>,
    /// Paths that have a counter.
    slots: HashMap<Box<[u8]>, PathSlot>,
    /// Epoch of the counts that the slots belong to.
    epoch: u64,
}

impl PathCache {
    /// `any`: unknown paths get the small fixed response.
    pub(crate) fn new(any: bool, pools: Arc<Pools>) -> Self {
        Self { any, pools, last: None, slots: HashMap::new(), epoch: 0 }
    }

    /// Returns the route of a request's target, and its counter. Control requests have no counter.
    #[inline]
    pub(crate) fn find(&mut self, target: &[u8], counts: &Counts) -> (Route, Option<PathSlot>) {
        if self.epoch == counts.epoch()
            && let Some((last, route, slot)) = &self.last
            && last == target
        {
            return (*route, Some(*slot));
        }
        self.find_again(target, counts)
    }

    fn find_again(&mut self, target: &[u8], counts: &Counts) -> (Route, Option<PathSlot>) {
        let path = path(target);
        let route = match TierKind::from_path(path) {
            None if path == b"/events" => {
                EventSchedule::from_query(query(target)).map_or_else(Route::Malformed, Route::Events)
            }
            Some(kind) => self.pools.tier(kind, query(target)).map_or_else(Route::Malformed, Route::Tier),
            None => Route::from_path(path, self.any),
        };
        if route.is_control() {
            return (route, None);
        }
        if self.epoch != counts.epoch() {
            self.epoch = counts.epoch();
            self.slots.clear();
        }
        let slot = self.slot(path, counts);
        let (last, last_route, last_slot) = self.last.get_or_insert_with(|| (Vec::new(), route, slot));
        last.clear();
        last.extend_from_slice(target);
        (*last_route, *last_slot) = (route, slot);
        (route, Some(slot))
    }

    /// Returns the counter of a path, a new one if there is room.
    fn slot(&mut self, path: &[u8], counts: &Counts) -> PathSlot {
        if let Some(&slot) = self.slots.get(path) {
            return slot;
        }
        let slot = counts.add_path(path);
        if slot.has_own_path() {
            self.slots.insert(path.into(), slot);
        }
        slot
    }
}
