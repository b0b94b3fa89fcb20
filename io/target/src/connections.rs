//! [`Connections`]: the clients of one thread, by the slot of their id.

use wavetank_driver::ConnId;

use crate::connection::Connection;

/// Maximum number of connections to reserve room for. Beyond it, the table doubles.
const AHEAD_MAX: usize = 1 << 20;

/// The clients of one thread.
#[derive(Debug)]
pub(crate) struct Connections {
    slots: Vec<Option<Box<Connection>>>,
    open: usize,
}

impl Connections {
    /// Creates an empty table with room for this many connections. A table that grows by doubling
    /// wastes up to half of its memory, and moves all entries each time. Unused room takes address
    /// space, not memory.
    pub(crate) fn with_capacity(connections: usize) -> Self {
        Self { slots: Vec::with_capacity(connections.min(AHEAD_MAX)), open: 0 }
    }

    /// Returns the number of connections.
    pub(crate) const fn len(&self) -> usize {
        self.open
    }

    /// Adds a connection, in place of the earlier one in its slot.
    pub(crate) fn insert(&mut self, id: ConnId) {
        let slot = id.slot as usize;
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, || None);
        }
        let before = self.slots[slot].replace(Box::new(Connection::new(id)));
        self.open += usize::from(before.is_none());
    }

    /// Returns the connection with this id, if it is still open.
    #[inline]
    pub(crate) fn get(&mut self, id: ConnId) -> Option<&mut Connection> {
        self.slots.get_mut(id.slot as usize)?.as_deref_mut().filter(|connection| connection.id == id)
    }

    /// Removes a connection.
    pub(crate) fn remove(&mut self, id: ConnId) -> Option<Box<Connection>> {
        self.get(id)?;
        self.open -= 1;
        self.slots[id.slot as usize].take()
    }

    /// Returns the first connection in slots from `from` on, if there is one.
    pub(crate) fn first_from(&self, from: u32) -> Option<ConnId> {
        let rest = self.slots.get(from as usize..)?;
        rest.iter().find_map(|slot| slot.as_ref().map(|connection| connection.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn id(slot: u32, generation: u16) -> ConnId {
        ConnId { slot, generation }
    }

    #[test]
    fn who_is_gone_is_not_taken_for_who_came_after() {
        let mut connections = Connections::with_capacity(2);
        for new in [id(0, 1), id(7, 1), id(7, 2)] {
            connections.insert(new);
        }
        assert_eq!(connections.len(), 2);
        assert!(connections.get(id(7, 1)).is_none() && connections.remove(id(7, 1)).is_none());
        assert!(connections.get(id(3, 1)).is_none() && connections.get(id(99, 1)).is_none());
        assert_eq!((connections.first_from(0), connections.first_from(1)), (Some(id(0, 1)), Some(id(7, 2))));
        assert!(connections.remove(id(7, 2)).is_some() && connections.remove(id(7, 2)).is_none());
        assert_eq!(
            (connections.len(), connections.first_from(1), connections.first_from(9)),
            (1, None, None)
        );
    }
}
