//! [`Sockets`]: the slab of connections of one driver.

use std::os::fd::OwnedFd;

use crate::send_buffer::SendBuffer;
use crate::{ConnId, Errno, socket};

/// Most entries reserved in advance; beyond that the table doubles.
const SOCKETS_AHEAD_MAX: u32 = 1 << 20;

/// Returns how many of the expected `sockets` tables reserve room for. Unused room costs no memory,
/// only addresses. A table that grows by doubling wastes half of itself, and is moved each time.
pub(crate) fn ahead(sockets: u32) -> usize {
    sockets.min(SOCKETS_AHEAD_MAX) as usize
}

/// One connection.
pub(crate) struct Socket {
    pub(crate) fd: OwnedFd,
    generation: u16,
    pub(crate) connecting: bool,
    pub(crate) told: ReportedEnd,
    delay: Delay,
    /// Why sending failed, packed; 0: it has not.
    broke: u8,
    pub(crate) unsent: SendBuffer,
}

/// What was reported to the owner about the end of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportedEnd {
    /// It goes on, for all that is known.
    Nothing,
    /// The peer has sent its FIN.
    Eof,
    /// It broke.
    Broken,
}

impl Socket {
    /// Why sending failed, if it has.
    pub(crate) fn send_error(&self) -> Option<Errno> {
        Errno::unpacked(self.broke)
    }

    /// Sending failed, and nothing is kept for it any more.
    pub(crate) fn break_sending(&mut self, errno: Errno) {
        self.broke = errno.packed();
        self.unsent = SendBuffer::default();
    }

    /// Hand over as much of `bytes` as the kernel takes now.
    #[inline]
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.before_send()?;
        socket::send(&self.fd, bytes)
    }

    /// Nagle's delay must not hold back data that follows other data. The first bytes of a
    /// connection follow nothing, so a connection with a single request saves the system call.
    #[inline]
    pub(crate) fn before_send(&mut self) -> Result<(), Errno> {
        if self.delay == Delay::Off { Ok(()) } else { self.undelay_second() }
    }

    #[cold]
    fn undelay_second(&mut self) -> Result<(), Errno> {
        if self.delay == Delay::Harmless {
            self.delay = Delay::On;
            return Ok(());
        }
        self.delay = Delay::Off;
        socket::set_nodelay(&self.fd)
    }
}

/// Nagle's delay of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Delay {
    /// On, and nothing was sent yet that it could wait for.
    Harmless,
    /// On.
    On,
    Off,
}

/// Connections by slot, with a generation per slot that outlives its connections.
pub(crate) struct Sockets {
    slots: Vec<Result<Socket, u16>>,
    free: Vec<u32>,
}

impl Sockets {
    /// Creates an empty table, with room [`ahead`] for this many.
    pub(crate) fn with_capacity(sockets: u32) -> Self {
        Self { slots: Vec::with_capacity(ahead(sockets)), free: Vec::new() }
    }

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
        // What we accepted is as its listener.
        let delay = if connecting { Delay::Harmless } else { Delay::Off };
        let unsent = SendBuffer::default();
        *entry =
            Ok(Socket { fd, generation, connecting, told: ReportedEnd::Nothing, delay, broke: 0, unsent });
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

    /// Takes the connection out; its slot may be reused directly.
    pub(crate) fn remove(&mut self, conn: ConnId) -> Option<Socket> {
        self.get(conn)?;
        let entry = &mut self.slots[conn.slot as usize];
        self.free.push(conn.slot);
        std::mem::replace(entry, Err(conn.generation)).ok()
    }
}
