//! [`Token`]: what travels through the kernel with each socket.

use crate::ConnId;

/// operation (8 bits) | ring (8) | generation (16) | slot (32), packed into the 64 bits the kernel
/// carries for us. A completion with a generation other than the slot's current one is stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token(pub(crate) u64);

/// What a readiness or completion is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Operation {
    /// A connection.
    Connection = 1,
    /// A listening socket.
    Listener = 2,
    /// Another thread woke this one.
    Wake = 3,
    /// A peer is accepted into a slot.
    Accept = 4,
    /// A socket is made, or given an option: heard of only when it fails.
    Prepare = 5,
    /// A source address is taken: heard of only when it fails, and then instead of the connect.
    Bind = 6,
    /// A connect.
    Connect = 7,
    /// A receive.
    Receive = 8,
    /// Whether there is something to receive.
    Readable = 9,
    /// Whether there is room to send.
    Writable = 10,
    /// A small send: heard of only when it fell short.
    Send = 11,
    /// A piece of a large send.
    Piece = 12,
    /// The end of sending.
    ShutDown = 13,
    /// No owner needs its result.
    Aside = 14,
    /// What was kept has been sent: the driver's own note to itself.
    Flushed = 15,
    /// The time waited for has come, where the wait itself cannot end to the microsecond.
    Timer = 16,
    /// A socket gets a name among the process's files.
    Install = 17,
}

impl Operation {
    /// All, by their numbers less one.
    const ALL: [Self; 17] = [
        Self::Connection,
        Self::Listener,
        Self::Wake,
        Self::Accept,
        Self::Prepare,
        Self::Bind,
        Self::Connect,
        Self::Receive,
        Self::Readable,
        Self::Writable,
        Self::Send,
        Self::Piece,
        Self::ShutDown,
        Self::Aside,
        Self::Flushed,
        Self::Timer,
        Self::Install,
    ];
}

impl Token {
    pub(crate) const fn new(operation: Operation, conn: ConnId) -> Self {
        Self(((operation as u64) << 56) | ((conn.generation as u64) << 32) | conn.slot as u64)
    }

    pub(crate) const fn operation(self) -> Option<Operation> {
        let number = (self.0 >> 56) as usize;
        if number == 0 || number > Operation::ALL.len() { None } else { Some(Operation::ALL[number - 1]) }
    }

    pub(crate) const fn conn(self) -> ConnId {
        ConnId { slot: self.0 as u32, generation: (self.0 >> 32) as u16 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packs_and_unpacks() {
        for (slot, generation) in [(0, 0), (u32::MAX, u16::MAX), (7, 65_535), (1 << 31, 1)] {
            let conn = ConnId { slot, generation };
            for (at, operation) in Operation::ALL.into_iter().enumerate() {
                assert_eq!(operation as usize, at + 1);
                let token = Token::new(operation, conn);
                assert_eq!((token.operation(), token.conn()), (Some(operation), conn));
            }
        }
        assert_eq!((Token(0).operation(), Token(u64::MAX).operation()), (None, None));
    }
}
