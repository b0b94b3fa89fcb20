//! [`Slab`]: items in an array, identified by index and generation.

use std::num::NonZeroU32;

/// Identifies one item in a [`Slab`]. It is stale after the item was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Id {
    index: u32,
    /// Never zero, so that an `Option` of an id is no larger.
    generation: NonZeroU32,
}

impl Id {
    /// The index in the array, unique among the items present at a time.
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.index as usize
    }
}

/// An array with reusable entries. A stale [`Id`] matches nothing.
pub(crate) struct Slab<T> {
    slots: Vec<(NonZeroU32, Option<T>)>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub(crate) const fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }

    #[inline]
    pub(crate) fn insert(&mut self, value: T) -> Id {
        if let Some(index) = self.free.pop() {
            let slot = &mut self.slots[index as usize];
            slot.1 = Some(value);
            return Id { index, generation: slot.0 };
        }
        let index = u32::try_from(self.slots.len()).expect("max_open is far below 2^32");
        self.slots.push((NonZeroU32::MIN, Some(value)));
        Id { index, generation: NonZeroU32::MIN }
    }

    /// Reserves room for this many items, so that the array does not grow by doubling. Unused room
    /// costs only address space.
    pub(crate) fn reserve(&mut self, things: usize) {
        self.slots.reserve_exact(things.saturating_sub(self.slots.len()));
    }

    /// Gives an item a new id. The old id then matches nothing.
    pub(crate) fn rename(&mut self, id: Id) -> Option<Id> {
        self.get(id)?;
        let slot = &mut self.slots[id.index as usize];
        slot.0 = following(slot.0);
        Some(Id { index: id.index, generation: slot.0 })
    }

    #[inline]
    pub(crate) fn get(&self, id: Id) -> Option<&T> {
        match self.slots.get(id.index as usize) {
            Some((generation, value)) if *generation == id.generation => value.as_ref(),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: Id) -> Option<&mut T> {
        match self.slots.get_mut(id.index as usize) {
            Some((generation, value)) if *generation == id.generation => value.as_mut(),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn remove(&mut self, id: Id) -> Option<T> {
        match self.slots.get_mut(id.index as usize) {
            Some((generation, value)) if *generation == id.generation && value.is_some() => {
                *generation = following(*generation);
                self.free.push(id.index);
                value.take()
            }
            _ => None,
        }
    }

    /// Returns the id of the item at `index`.
    pub(crate) fn at(&self, index: u32) -> Option<Id> {
        let (generation, value) = self.slots.get(index as usize)?;
        value.is_some().then_some(Id { index, generation: *generation })
    }

    /// The number of items.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Removes and returns all items.
    pub(crate) fn drain(&mut self) -> Vec<T> {
        let all = self.slots.drain(..).filter_map(|(_, value)| value).collect();
        self.free.clear();
        all
    }
}

/// Returns the next generation.
#[inline]
fn following(generation: NonZeroU32) -> NonZeroU32 {
    generation.checked_add(1).unwrap_or(NonZeroU32::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_that_is_renamed_is_known_by_its_new_name_alone() {
        let mut slab = Slab::new();
        let old = slab.insert('a');
        let new = slab.rename(old).expect("it is there");
        assert_eq!((slab.get(old), slab.get(new), slab.at(0)), (None, Some(&'a'), Some(new)));
        assert_eq!((slab.rename(old), slab.remove(old), slab.len()), (None, None, 1));
        assert_eq!((slab.remove(new), slab.len()), (Some('a'), 0));
        assert_eq!(size_of::<Option<Id>>(), 8);
    }

    #[test]
    fn a_stale_id_finds_nothing() {
        let mut slab = Slab::new();
        let first = slab.insert('a');
        assert_eq!(slab.remove(first), Some('a'));
        let second = slab.insert('b');
        assert_eq!(slab.get_mut(first), None);
        assert_eq!(slab.remove(first), None);
        assert_eq!((slab.get_mut(second).copied(), slab.len()), (Some('b'), 1));
        assert_eq!((slab.remove(second), slab.remove(second), slab.len()), (Some('b'), None, 0));
    }
}
