//! [`Snapshot`]: the files of a host that judging it needs, as text.
//!
//! One list of files serves every host: this one, hosts over ssh and hosts of a lab. The reader
//! expands patterns with `*`, as a shell does.

mod paths;
mod shell;
mod text;

use std::collections::BTreeMap;

pub use paths::{SNAPSHOT_LISTENERS, SNAPSHOT_SERVERS, snapshot_paths, sysctl_path};
pub use shell::snapshot_script;

/// The files of a host, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    files: BTreeMap<String, String>,
}

impl Snapshot {
    /// Adds a file.
    pub fn insert(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.files.insert(path.into(), text.into());
    }

    /// Returns the text of a file, without blanks around it. `None`: the host has no such file, or
    /// it could not be read.
    pub fn get(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(|text| text.trim())
    }

    /// Returns the number in a file.
    pub fn number(&self, path: &str) -> Option<u64> {
        self.get(path)?.parse().ok()
    }

    /// Returns the value of a kernel setting, with single blanks between its parts.
    pub fn setting(&self, key: &str) -> Option<String> {
        let text = self.get(&sysctl_path(key))?;
        Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Returns the files between two parts of a path, each with what is between: `start` and `end`
    /// of `/sys/class/net/eth0/speed`.
    pub fn between<'s>(
        &'s self,
        start: &'s str,
        end: &'s str,
    ) -> impl Iterator<Item = (&'s str, &'s str)> + 's {
        self.files
            .iter()
            .filter_map(move |(path, text)| Some((path.strip_prefix(start)?.strip_suffix(end)?, text.trim())))
    }

    /// Returns the snapshot without the files below a folder.
    #[must_use]
    pub fn without(mut self, folder: &str) -> Self {
        self.files.retain(|path, _| !path.starts_with(folder));
        self
    }

    /// Whether nothing was read.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}
