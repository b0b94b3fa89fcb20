//! [`Sockets`]: the slab of connections of one driver.

use std::os::fd::OwnedFd;

use crate::ConnId;
use crate::unsent::Unsent;

/// One connection.
pub(crate) struct Socket {
    pub(crate) fd: OwnedFd,
    generation: u16,
    pub(crate) connecting: bool,
    /// The peer has sent its FIN and the owner was told.
    pub(crate) finished: bool,
    pub(crate) unsent: Unsent,
}

/// Connections by slot, with a generation per slot that outlives its connections.
#[derive(Default)]
pub(crate) struct Sockets {
    slots: Vec<Result<Socket, u16>>,
    free: Vec<u32>,
}

impl Sockets {
    pub(crate) fn insert(&mut self, fd: OwnedFd, connecting: bool) -> ConnId {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Err(0));
            u32::try_from(self.slots.len() - 1).expect("fewer connections than 2^32: files run out first")
        });
        let entry = &mut self.slots[slot as usize];
        let generation = match entry {
            Err(last) => last.wrapping_add(1),
            Ok(_) => unreachable!("a slot on the free list holds no connection"),
        };
        *entry = Ok(Socket { fd, generation, connecting, finished: false, unsent: Unsent::default() });
        ConnId { slot, generation }
    }

    /// The connection, unless `conn` is stale.
    #[inline]
    pub(crate) fn get(&mut self, conn: ConnId) -> Option<&mut Socket> {
        match self.slots.get_mut(conn.slot as usize) {
            Some(Ok(socket)) if socket.generation == conn.generation => Some(socket),
            _ => None,
        }
    }

    /// Take the connection out; its slot may be used again at once.
    pub(crate) fn remove(&mut self, conn: ConnId) -> Option<Socket> {
        self.get(conn)?;
        let entry = &mut self.slots[conn.slot as usize];
        self.free.push(conn.slot);
        std::mem::replace(entry, Err(conn.generation)).ok()
    }
}
