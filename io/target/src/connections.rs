//! [`Connections`]: the clients of one thread, by the slot of their id.

use wavetank_driver::ConnId;

use crate::connection::Connection;

/// The clients of one thread.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    slots: Vec<Option<Box<Connection>>>,
}

impl Connections {
    /// Take one in, in place of whoever had its slot before.
    pub(crate) fn insert(&mut self, id: ConnId) {
        let slot = id.slot as usize;
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, || None);
        }
        self.slots[slot] = Some(Box::new(Connection::new(id)));
    }

    /// The one with this id, if it is here still.
    #[inline]
    pub(crate) fn get(&mut self, id: ConnId) -> Option<&mut Connection> {
        self.slots.get_mut(id.slot as usize)?.as_deref_mut().filter(|connection| connection.id == id)
    }

    /// Let one go.
    pub(crate) fn remove(&mut self, id: ConnId) -> Option<Box<Connection>> {
        self.get(id)?;
        self.slots[id.slot as usize].take()
    }
}
