//! [`Token`]: the secret of a server, and the proofs that both ends know it.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

type HmacSha256 = Hmac<Sha256>;

/// Characters of a token that are accepted.
const TOKEN_CHARS: std::ops::RangeInclusive<usize> = 16..=256;

/// The secret that a server and its clients share. It is never sent: each end proves that it has
/// it by an HMAC-SHA-256 (RFC 2104) over random numbers of both ends.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// The key of one session, from the token and the random numbers of both ends. It authenticates
/// data connections and datagrams.
#[derive(Clone)]
pub struct SessionKey([u8; 32]);

impl Token {
    /// Returns the token in `text`, without blanks around it; `None` if its length is not 16 to
    /// 256 characters or it contains blanks.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_plain = text.chars().all(|character| character.is_ascii_graphic());
        (is_plain && TOKEN_CHARS.contains(&text.len())).then(|| Self(text.to_owned()))
    }

    /// Makes a token of random bytes.
    pub fn from_random(bytes: [u8; 16]) -> Self {
        Self(hex(&bytes))
    }

    /// Returns its text, for the person who starts the other end.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns the proof of a client, in hexadecimal digits.
    pub fn client_proof(&self, client_nonce: &str, server_nonce: &str) -> String {
        hex(&self.proof("client", client_nonce, server_nonce))
    }

    /// Returns the proof of a server, in hexadecimal digits.
    pub fn server_proof(&self, client_nonce: &str, server_nonce: &str) -> String {
        hex(&self.proof("server", client_nonce, server_nonce))
    }

    /// Returns the key of the session between these two ends.
    pub fn session_key(&self, client_nonce: &str, server_nonce: &str) -> SessionKey {
        SessionKey(self.proof("session", client_nonce, server_nonce))
    }

    fn proof(&self, role: &str, client_nonce: &str, server_nonce: &str) -> [u8; 32] {
        let mut mac = keyed(self.0.as_bytes());
        for part in ["wavetank-net", role, client_nonce, server_nonce] {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part.as_bytes());
        }
        mac.finalize().into_bytes().into()
    }
}

/// Whether two proofs are equal, in a time that does not depend on where they differ.
pub(crate) fn are_equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differing, (a, b)| differing | (a ^ b)) == 0
}

impl SessionKey {
    /// Returns the first 16 bytes of the HMAC-SHA-256 of `message`.
    pub(crate) fn seal(&self, message: &[u8]) -> [u8; 16] {
        let mut mac = keyed(&self.0);
        mac.update(message);
        let whole: [u8; 32] = mac.finalize().into_bytes().into();
        let mut short = [0; 16];
        short.copy_from_slice(&whole[..16]);
        short
    }

    /// Returns the random-looking number that datagrams of test `test` start with.
    pub fn flow_key(&self, test: u32) -> u64 {
        let sealed = self.seal(&[b"udp flow ".as_slice(), &test.to_be_bytes()].concat());
        let mut first = [0; 8];
        first.copy_from_slice(&sealed[..8]);
        u64::from_be_bytes(first)
    }
}

fn keyed(key: &[u8]) -> HmacSha256 {
    HmacSha256::new_from_slice(key).expect("HMAC takes a key of any length")
}

/// Returns random bytes as the hexadecimal digits of a nonce.
pub fn random_hex(bytes: [u8; 16]) -> String {
    hex(&bytes)
}

/// Returns bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Neither shows the secret.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_a_length_and_no_blanks() {
        for (text, is_valid) in [
            ("0123456789abcdef\n", true),
            ("too short", false),
            ("0123456789 abcdef", false),
            ("", false),
            (&"x".repeat(257), false),
        ] {
            assert_eq!(Token::new(text).is_some(), is_valid, "{text:?}");
        }
        assert_eq!(Token::from_random([0xa5; 16]).text(), "a5".repeat(16));
        assert_eq!(format!("{:?}", Token::from_random([0; 16])), "Token(…)");
    }

    #[test]
    fn proofs_depend_on_role_token_and_both_nonces() {
        let token = Token::from_random([1; 16]);
        let proofs = [
            token.client_proof("a", "b"),
            token.server_proof("a", "b"),
            token.client_proof("b", "a"),
            token.client_proof("ab", ""),
            Token::from_random([2; 16]).client_proof("a", "b"),
        ];
        for (at, proof) in proofs.iter().enumerate() {
            assert_eq!(proof.len(), 64);
            assert!(proofs[at + 1..].iter().all(|other| other != proof), "{at}");
        }
        assert_ne!(
            token.session_key("a", "b").flow_key(1),
            token.session_key("a", "b").flow_key(2),
            "each test has a key of its own"
        );
    }

    #[test]
    fn equal_is_equal_length_too() {
        assert!(are_equal(b"abc", b"abc") && !are_equal(b"abc", b"abd") && !are_equal(b"abc", b"ab"));
    }
}
