//! [`hex`]: SHA-256 as text.

use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 of `bytes` in hexadecimal, as `sha256sum` prints it.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16);
    let hash = Sha256::digest(bytes);
    hash.iter().flat_map(|byte| [byte >> 4, byte & 15]).filter_map(digit).collect()
}
