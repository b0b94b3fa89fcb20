//! [`DataHeader`]: the first bytes of every data connection.

use crate::SessionKey;
use crate::token::are_equal;

/// Length of a [`DataHeader`].
pub const HEADER_BYTES: usize = 48;
/// First bytes of a header. A control connection starts with `{`.
const MAGIC: [u8; 4] = *b"WTN1";
/// Bytes that the seal covers.
const SEALED_BYTES: usize = HEADER_BYTES - 16;

/// What a data connection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataKind {
    /// The client sends as much as it can.
    Upload,
    /// The server sends as much as it can.
    Download,
    /// Messages go back and forth.
    Echo,
    /// The server sends one byte and closes.
    Connect,
    /// The sender of a first datagram.
    Datagram,
}

/// The header of a data connection: what it is for, and the seal of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataHeader {
    /// What the connection does.
    pub kind: DataKind,
    /// The session it belongs to.
    pub session: u64,
    /// The test it belongs to.
    pub test: u32,
    /// Its number in the test, from 0.
    pub stream: u32,
}

impl DataKind {
    const ALL: [Self; 5] = [Self::Upload, Self::Download, Self::Echo, Self::Connect, Self::Datagram];
}

impl DataHeader {
    /// Encodes the header with the seal of `key`.
    pub fn encode(&self, key: &SessionKey) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = DataKind::ALL.iter().position(|kind| *kind == self.kind).unwrap_or_default() as u8;
        bytes[8..16].copy_from_slice(&self.session.to_be_bytes());
        bytes[16..20].copy_from_slice(&self.test.to_be_bytes());
        bytes[20..24].copy_from_slice(&self.stream.to_be_bytes());
        let seal = key.seal(&bytes[..SEALED_BYTES]);
        bytes[SEALED_BYTES..].copy_from_slice(&seal);
        bytes
    }

    /// Returns the session that `bytes` name, before the seal is checked.
    pub fn session_of(bytes: &[u8; HEADER_BYTES]) -> Option<u64> {
        (bytes[..4] == MAGIC).then(|| number(&bytes[8..16]))
    }

    /// Decodes a header; `None` if it is damaged or was not made with `key`.
    pub fn decode(bytes: &[u8; HEADER_BYTES], key: &SessionKey) -> Option<Self> {
        let is_ours = are_equal(&key.seal(&bytes[..SEALED_BYTES]), &bytes[SEALED_BYTES..]);
        let session = Self::session_of(bytes).filter(|_| is_ours)?;
        let kind = *DataKind::ALL.get(usize::from(bytes[4]))?;
        let [test, stream] = [&bytes[16..20], &bytes[20..24]].map(|part| number(part) as u32);
        Some(Self { kind, session, test, stream })
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Token;

    #[test]
    fn only_the_key_of_the_session_makes_a_header() {
        let key = Token::from_random([7; 16]).session_key("a", "b");
        let header = DataHeader { kind: DataKind::Echo, session: u64::MAX - 3, test: 9, stream: 4 };
        let bytes = header.encode(&key);
        assert_eq!(DataHeader::decode(&bytes, &key), Some(header));
        assert_eq!(DataHeader::session_of(&bytes), Some(header.session));
        let other = Token::from_random([7; 16]).session_key("a", "c");
        assert_eq!(DataHeader::decode(&bytes, &other), None);
        for at in 0..HEADER_BYTES {
            let mut damaged = bytes;
            damaged[at] ^= 1;
            assert_eq!(DataHeader::decode(&damaged, &key), None, "byte {at}");
        }
    }
}
