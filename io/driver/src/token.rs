//! [`Token`]: what travels through the kernel with each socket.

use crate::ConnId;

/// operation (8 bits) | ring (8) | generation (16) | slot (32), packed into the 64 bits the kernel
/// carries for us. A completion whose generation is not the slot's present one is stale.
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
    /// Somebody wants this thread's attention.
    Wake = 3,
}

impl Token {
    pub(crate) const fn new(operation: Operation, conn: ConnId) -> Self {
        Self(((operation as u64) << 56) | ((conn.generation as u64) << 32) | conn.slot as u64)
    }

    pub(crate) const fn operation(self) -> Option<Operation> {
        match (self.0 >> 56) as u8 {
            1 => Some(Operation::Connection),
            2 => Some(Operation::Listener),
            3 => Some(Operation::Wake),
            _ => None,
        }
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
            for operation in [Operation::Connection, Operation::Listener, Operation::Wake] {
                let token = Token::new(operation, conn);
                assert_eq!((token.operation(), token.conn()), (Some(operation), conn));
            }
        }
        assert_eq!(Token(0).operation(), None);
    }
}
