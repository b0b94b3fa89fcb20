//! [`ProgramFile`]: this program, as it is copied to load hosts.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{Error, Read as _};
use std::path::{Path, PathBuf};

use rustix::system::uname;
use sha2::{Digest as _, Sha256};
use wavetank_units::{Code, UserError};

/// Bytes read at a time.
const READ_BYTES: usize = 1 << 20;

/// This program's file.
pub(super) struct ProgramFile {
    pub(super) path: PathBuf,
    /// Its size in bytes.
    pub(super) size: u64,
    /// SHA-256 in hexadecimal.
    pub(super) digest: String,
    /// System and architecture that it needs, as `uname -sm` prints them.
    pub(super) system: String,
    /// Digests of its first bytes, by their number.
    prefixes: HashMap<u64, String>,
}

impl ProgramFile {
    /// Reads the file of this process.
    pub(super) fn read() -> Result<Self, UserError> {
        let failed = |error: Error| {
            UserError::refused(
                Code::HostCannot,
                format!("cannot read this program: {error}"),
                "start it again; it was replaced while it ran",
            )
        };
        let path = std::env::current_exe().map_err(failed)?;
        let size = std::fs::metadata(&path).map_err(failed)?.len();
        let digest = digest_of(&path, size).map_err(failed)?;
        let names = uname();
        let system = format!("{} {}", names.sysname().to_string_lossy(), names.machine().to_string_lossy());
        Ok(Self { path, size, digest, system, prefixes: HashMap::new() })
    }

    /// Returns from which byte on a copy is to go on. A host has the first `size` bytes, with this
    /// digest.
    pub(super) fn resume_at(&mut self, size: u64, digest: &str) -> u64 {
        if size > self.size {
            return 0;
        }
        let path = &self.path;
        let own = self.prefixes.entry(size).or_insert_with(|| digest_of(path, size).unwrap_or_default());
        if own == digest { size } else { 0 }
    }
}

/// Returns the SHA-256 of a file, in hexadecimal.
pub(super) fn file_digest(path: &Path) -> std::io::Result<String> {
    digest_of(path, u64::MAX)
}

/// Returns the SHA-256 of the first `size` bytes of a file, in hexadecimal.
fn digest_of(path: &Path, size: u64) -> std::io::Result<String> {
    let mut file = File::open(path)?.take(size);
    let (mut hash, mut bytes) = (Sha256::new(), vec![0; READ_BYTES]);
    loop {
        let count = file.read(&mut bytes)?;
        if count == 0 {
            break;
        }
        hash.update(&bytes[..count]);
    }
    let mut text = String::new();
    for byte in hash.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_goes_on_where_its_start_is_the_same() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("program");
        std::fs::write(&path, "hello world").expect("it can be written");
        let digest = digest_of(&path, 11).expect("it can be read");
        assert_eq!(digest, "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9");
        let start = digest_of(&path, 5).expect("it can be read");
        let system = String::new();
        let mut program = ProgramFile { path, size: 11, digest, system, prefixes: HashMap::new() };
        assert_eq!(program.resume_at(5, &start), 5);
        assert_eq!(program.resume_at(6, &start), 0);
        assert_eq!(program.resume_at(12, &start), 0);
    }
}
