//! [`Slab`]: things in an array, named by index and generation.

/// Names one thing in a [`Slab`]. Stale after the thing was taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Id {
    index: u32,
    generation: u32,
}

impl Id {
    /// The place in the array: no two things that are there at a time have the same.
    #[inline]
    pub(crate) const fn place(self) -> usize {
        self.index as usize
    }
}

/// An array whose slots are used again; a stale [`Id`] finds nothing.
pub(crate) struct Slab<T> {
    slots: Vec<(u32, Option<T>)>,
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
        self.slots.push((0, Some(value)));
        Id { index, generation: 0 }
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
                *generation = generation.wrapping_add(1);
                self.free.push(id.index);
                value.take()
            }
            _ => None,
        }
    }

    /// The name of the thing at `place`.
    pub(crate) fn at(&self, place: u32) -> Option<Id> {
        let (generation, value) = self.slots.get(place as usize)?;
        value.is_some().then_some(Id { index: place, generation: *generation })
    }

    /// How many things are in it.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Take all of them out.
    pub(crate) fn drain(&mut self) -> Vec<T> {
        let all = self.slots.drain(..).filter_map(|(_, value)| value).collect();
        self.free.clear();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
