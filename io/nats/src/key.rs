//! [`NatsKey`]: the key by which the broker knows one end of a link.

use std::fmt;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use nkeys::{KeyPair, KeyPairType};

/// Longest file with a seed, in bytes. A seed has 58.
const FILE_BYTES_MAX: u64 = 4_096;
/// Permissions of the group and of others.
const NOT_PRIVATE: u32 = 0o077;
/// Permissions that a file of root must not have: a secret that Kubernetes mounts is readable by
/// the group of its container.
const NOT_MOUNTED: u32 = 0o037;

/// A user's key of NATS (an nkey). Its seed is never part of a message.
#[derive(Clone, PartialEq, Eq)]
pub struct NatsKey {
    seed: String,
    public: String,
}

/// Why a key cannot be had. The text never contains the seed.
#[derive(Debug)]
pub enum KeyError {
    /// The file cannot be read.
    Unreadable(PathBuf, std::io::Error),
    /// Others may read the file. It has these permissions.
    NotPrivate(PathBuf, u32),
    /// It is not the seed of a user.
    NotASeed,
    /// The system has no random bytes.
    NoChance(getrandom::Error),
}

impl NatsKey {
    /// Makes a new key.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn generate() -> Result<Self, KeyError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(KeyError::NoChance)?;
        let pair = KeyPair::new_from_raw(KeyPairType::User, bytes).map_err(|_| KeyError::NotASeed)?;
        let seed = pair.seed().map_err(|_| KeyError::NotASeed)?;
        Ok(Self { seed, public: pair.public_key() })
    }

    /// Reads a seed, which starts with `SU`. Space around it is ignored.
    ///
    /// # Errors
    /// If it is not a user's seed.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let seed = text.trim();
        let pair = KeyPair::from_seed(seed).map_err(|_| KeyError::NotASeed)?;
        if pair.key_pair_type() != KeyPairType::User {
            return Err(KeyError::NotASeed);
        }
        Ok(Self { seed: seed.to_owned(), public: pair.public_key() })
    }

    /// Reads the seed in a file, which only its owner may read, or, if that is root, its group.
    ///
    /// # Errors
    /// If the file cannot be read, is not private, or has no seed.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let failed = |error| KeyError::Unreadable(path.to_owned(), error);
        let file = std::fs::File::open(path).map_err(failed)?;
        let found = file.metadata().map_err(failed)?;
        let mode = found.mode() & 0o777;
        // The owner of this folder is the user of this process.
        let user = std::fs::metadata("/proc/self").map_err(failed)?.uid();
        if !is_private(mode, found.uid(), user) {
            return Err(KeyError::NotPrivate(path.to_owned(), mode));
        }
        let mut text = String::new();
        file.take(FILE_BYTES_MAX).read_to_string(&mut text).map_err(failed)?;
        Self::parse(&text)
    }

    /// The public part, for the broker's configuration. It starts with `U`.
    pub fn public(&self) -> &str {
        &self.public
    }

    /// The secret part, for a private file.
    pub fn seed(&self) -> &str {
        &self.seed
    }
}

/// Whether `user` may keep a secret in a file with these permissions. Another user's file is that
/// of root, which mounts secrets for the group of a container.
const fn is_private(mode: u32, owner: u32, user: u32) -> bool {
    let is_mounted = owner == 0 && user != 0;
    mode & if is_mounted { NOT_MOUNTED } else { NOT_PRIVATE } == 0
}

impl fmt::Debug for NatsKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsKey").field("public", &self.public).finish_non_exhaustive()
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            Self::NotPrivate(path, mode) => {
                write!(f, "cannot use {}: its mode is {mode:o}, so others can read it", path.display())
            }
            Self::NotASeed => f.write_str("cannot use the seed: it is not that of a NATS user"),
            Self::NoChance(error) => write!(f, "cannot make a key: {error}"),
        }
    }
}

impl std::error::Error for KeyError {}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_seed_is_read_from_a_private_file_only() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("seed");
        let key = NatsKey::generate().expect("a key");
        assert!(key.seed().starts_with("SU") && key.public().starts_with('U'));
        std::fs::write(&path, format!("{}\n", key.seed())).expect("a file");
        let set =
            |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("ours");
        set(0o600);
        assert_eq!(NatsKey::read(&path).expect("it is private"), key);
        set(0o640);
        let error = NatsKey::read(&path).expect_err("the group can read it");
        assert!(matches!(error, KeyError::NotPrivate(_, 0o640)));
        assert!(NatsKey::read(&place.path().join("none")).is_err());
        assert!(matches!(NatsKey::parse("SUNOTASEED"), Err(KeyError::NotASeed)));
        assert!(matches!(NatsKey::parse(key.public()), Err(KeyError::NotASeed)));
    }

    #[test]
    fn the_group_may_read_a_mounted_secret() {
        let check = |mode, owner, user, expected| assert_eq!(is_private(mode, owner, user), expected);
        check(0o600, 1_000, 1_000, true);
        check(0o640, 1_000, 1_000, false);
        check(0o440, 0, 65_532, true);
        check(0o460, 0, 65_532, false);
        check(0o444, 0, 65_532, false);
        check(0o440, 0, 0, false);
    }

    #[test]
    fn no_message_has_the_seed() {
        let key = NatsKey::generate().expect("a key");
        let damaged = format!("{}x", key.seed());
        let error = NatsKey::parse(&damaged).expect_err("it is damaged");
        let texts = [format!("{key:?}"), format!("{error} {error:?}")];
        assert!(texts.iter().all(|text| !text.contains(&key.seed()[..8])), "{texts:?}");
    }
}
