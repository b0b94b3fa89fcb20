//! [`Sockets`]: the slab of connections of one driver.

use std::os::fd::OwnedFd;

use crate::send_buffer::SendBuffer;
use crate::{ConnId, Errno, socket};

/// Maximum number of entries reserved ahead; beyond it, the table doubles.
const SOCKETS_AHEAD_MAX: u32 = 1 << 20;

/// Returns the number of entries that tables reserve from the start, for `sockets` expected ones.
/// Unused room costs no memory, only addresses. A table that grows by doubling wastes up to half of
/// its memory and is moved each time.
pub(crate) fn ahead(sockets: u32) -> usize {
    sockets.min(SOCKETS_AHEAD_MAX) as usize
}

/// One connection.
pub(crate) struct Socket {
    pub(crate) fd: OwnedFd,
    generation: u16,
    pub(crate) connecting: bool,
    pub(crate) reported: ReportedEnd,
    delay: Delay,
    /// The errno of a failed send, packed; 0: no send has failed.
    broke: u8,
    pub(crate) unsent: SendBuffer,
}

/// What the owner knows about the connection's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportedEnd {
    /// The connection is open as far as is known.
    Nothing,
    /// The peer has sent its FIN.
    Eof,
    /// The connection broke.
    Broken,
}

impl Socket {
    /// Returns why sending failed, if it has.
    pub(crate) fn send_error(&self) -> Option<Errno> {
        Errno::unpacked(self.broke)
    }

    /// Returns why connecting failed, if it did.
    #[cold]
    pub(crate) fn connect_error(&self) -> Result<(), Errno> {
        self.send_error().map_or_else(|| socket::pending_error(&self.fd), Err)
    }

    /// Records that sending failed, and drops the bytes kept for it.
    pub(crate) fn break_sending(&mut self, errno: Errno) {
        self.broke = errno.packed();
        self.unsent = SendBuffer::default();
    }

    /// Hands as much of `bytes` to the kernel as it takes now.
    #[inline]
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        self.before_send()?;
        socket::send(&self.fd, bytes)
    }

    /// Notes that this socket has no such delay, because it is not one of TCP.
    pub(crate) const fn has_no_delay(&mut self) {
        self.delay = Delay::Off;
    }

    /// Turns Nagle's delay off before a send that follows another one, so that the kernel does not
    /// hold it back. The first bytes of a connection follow nothing, so a connection with a single
    /// request saves the system call.
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

/// The state of Nagle's delay on one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Delay {
    /// On, but nothing was sent yet that it could wait for.
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
    /// Returns an empty slab with room [`ahead`] for this many sockets.
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
        // Accepted sockets inherit the setting of the listener.
        let delay = if connecting { Delay::Harmless } else { Delay::Off };
        let unsent = SendBuffer::default();
        *entry = Ok(Socket {
            fd,
            generation,
            connecting,
            reported: ReportedEnd::Nothing,
            delay,
            broke: 0,
            unsent,
        });
        ConnId { slot, generation }
    }

    /// Returns the connection, unless `conn` is stale.
    #[inline]
    pub(crate) fn get(&mut self, conn: ConnId) -> Option<&mut Socket> {
        match self.slots.get_mut(conn.slot as usize) {
            Some(Ok(socket)) if socket.generation == conn.generation => Some(socket),
            _ => None,
        }
    }

    /// Removes the connection; its slot may be reused immediately.
    pub(crate) fn remove(&mut self, conn: ConnId) -> Option<Socket> {
        self.get(conn)?;
        let entry = &mut self.slots[conn.slot as usize];
        self.free.push(conn.slot);
        std::mem::replace(entry, Err(conn.generation)).ok()
    }
}
