//! [`LineDigest`]: SHA-256 over the lines of an agent, equal in its spool and in the archive.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// SHA-256 over lines in order, each with its newline. For a file of nothing else it is what
/// `sha256sum` prints.
#[derive(Clone, Default)]
pub struct LineDigest(Sha256);

impl LineDigest {
    /// Adds `line`, which has no newline.
    pub fn add(&mut self, line: &str) {
        self.0.update(line.as_bytes());
        self.0.update(b"\n");
    }

    /// The digest of all lines so far.
    pub fn hex(&self) -> String {
        hex(&self.0.clone().finalize())
    }
}

/// Returns bytes in lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes all text");
        text
    })
}
