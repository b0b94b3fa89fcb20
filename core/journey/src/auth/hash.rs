//! The hashes of digest authentication: over parts joined by colons, in hexadecimal.

use md5::{Digest, Md5};
use sha2::{Sha256, Sha512_256};

use super::challenge::DigestAlgorithm;

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Appends bytes in lower-case hexadecimal.
pub(super) fn push_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    for byte in bytes {
        out.extend([DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}

/// A hash in hexadecimal, on the stack.
#[derive(Clone, Copy)]
pub(super) struct Hex {
    digits: [u8; 64],
    length: usize,
}

impl Hex {
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.digits[..self.length]
    }

    /// Returns H of `parts` joined by colons.
    pub(super) fn digest(algorithm: DigestAlgorithm, parts: &[&[u8]]) -> Self {
        match algorithm {
            DigestAlgorithm::Md5 => Self::with::<Md5>(parts),
            DigestAlgorithm::Sha256 => Self::with::<Sha256>(parts),
            DigestAlgorithm::Sha512Slash256 => Self::with::<Sha512_256>(parts),
        }
    }

    fn with<H: Digest>(parts: &[&[u8]]) -> Self {
        let mut hash = H::new();
        for (at, part) in parts.iter().enumerate() {
            if at > 0 {
                hash.update(b":");
            }
            hash.update(part);
        }
        let mut new = Self { digits: [0; 64], length: 0 };
        for byte in hash.finalize() {
            new.digits[new.length] = DIGITS[usize::from(byte >> 4)];
            new.digits[new.length + 1] = DIGITS[usize::from(byte & 15)];
            new.length += 2;
        }
        new
    }
}
