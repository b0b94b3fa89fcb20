//! [`Token`]: the value that the kernel carries for each socket.

use crate::ConnId;

/// operation (8 bits) | ring (8) | generation (16) | slot (32), packed into the 64 bits that the
/// kernel carries. A completion is stale if its generation is not the current one of the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token(pub(crate) u64);

/// The subject of a readiness event or completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Operation {
    /// A connection.
    Connection = 1,
    /// A listening socket.
    Listener = 2,
    /// Another thread wakes this one.
    Wake = 3,
    /// Accepting a peer into a slot.
    Accept = 4,
    /// Making a socket or setting an option: completes visibly only if it fails.
    Prepare = 5,
    /// Binding a source address: completes visibly only if it fails, and then instead of the
    /// connect.
    Bind = 6,
    /// A connect.
    Connect = 7,
    /// A receive.
    Receive = 8,
    /// A watch for bytes to receive.
    Readable = 9,
    /// A watch for room to send.
    Writable = 10,
    /// A small send: completes visibly only if it fell short.
    Send = 11,
    /// A piece of a large send.
    Piece = 12,
    /// Shutting down the sending side.
    ShutDown = 13,
    /// An operation without a result that anything needs.
    Aside = 14,
    /// The kept bytes have been sent: a note of the driver to itself.
    Flushed = 15,
    /// The timer that ends a wait, if the wait itself has no microsecond precision.
    Timer = 16,
    /// Installing a socket into the process's table of files.
    Install = 17,
    /// A UDP socket.
    Datagrams = 18,
}

impl Operation {
    /// All operations, in the order of their numbers, which start at 1.
    const ALL: [Self; 18] = [
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
        Self::Datagrams,
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
