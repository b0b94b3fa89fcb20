//! [`Paths`]: what a path asks for and where it is counted, remembered from the request before.

use crate::route::{Route, path_of};
use crate::truth::{Counts, PathSlot};

/// Most requests ask for the same as the one before them: comparing is cheaper than parsing and hashing.
#[derive(Debug)]
pub(crate) struct Paths {
    any: bool,
    last: Option<(Vec<u8>, Route, PathSlot)>,
    /// Of the counts in which the remembered slot is one.
    generation: u64,
}

impl Paths {
    /// `any`: unknown paths are asked for the small fixed answer.
    pub(crate) const fn new(any: bool) -> Self {
        Self { any, last: None, generation: 0 }
    }

    /// What a request's target asks for, and where it is counted; control requests nowhere.
    #[inline]
    pub(crate) fn find(&mut self, target: &[u8], counts: &mut Counts) -> (Route, Option<PathSlot>) {
        if self.generation == counts.generation()
            && let Some((last, route, slot)) = &self.last
            && last == target
        {
            return (*route, Some(*slot));
        }
        self.find_anew(target, counts)
    }

    fn find_anew(&mut self, target: &[u8], counts: &mut Counts) -> (Route, Option<PathSlot>) {
        let path = path_of(target);
        let route = Route::of(path, self.any);
        if route.is_control() {
            return (route, None);
        }
        let slot = counts.slot(path);
        self.generation = counts.generation();
        let (last, last_route, last_slot) = self.last.get_or_insert_with(|| (Vec::new(), route, slot));
        last.clear();
        last.extend_from_slice(target);
        (*last_route, *last_slot) = (route, slot);
        (route, Some(slot))
    }
}
