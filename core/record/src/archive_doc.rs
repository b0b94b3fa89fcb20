//! [`ArchiveDoc`]: the `wavetank.archive/1` object, what `wavetank runs show --format json` prints.

use serde::Serialize;

use crate::{HostDoc, RunLine};

/// Version of the format; fields are only ever added to it.
pub const ARCHIVE_SCHEMA: &str = "wavetank.archive/1";

/// What is in one archive. The text of `wavetank runs show` is a function of it alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ArchiveDoc {
    /// Always [`ARCHIVE_SCHEMA`].
    pub schema: String,
    /// The run in one line.
    pub run: RunLine,
    /// Its path: a directory, or a packed run.
    pub path: String,
    /// Whether it is a packed run.
    pub packed: bool,
    /// The headline printed after the verdict; may be empty.
    pub headline: String,
    /// The command line, secrets as `***`; empty if unknown.
    pub command: String,
    /// A command that repeats the run with the same random choices; empty if unknown.
    pub repeat: String,
    /// Seed of every random choice, if `run.json` or the plan contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// SHA-256 of the stored `plan.yaml`, in hex; empty if the file is missing.
    pub plan_hash: String,
    /// Whether that is the plan that was run; absent if `run.json` does not contain the hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_fits: Option<bool>,
    /// Version of wavetank that ran it.
    pub version: String,
    /// Driver: `uring` or `epoll`.
    pub engine: String,
    /// The host that ran it; absent where `environment.json` cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<HostDoc>,
    /// Circumstances noted in `run.json`.
    pub notes: Vec<String>,
    /// What is in it, by path.
    pub files: Vec<FileDoc>,
    /// What is missing, damaged or foreign, one line each.
    pub problems: Vec<String>,
}

/// One file of an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileDoc {
    /// Path inside the archive, with `/`.
    pub path: String,
    /// Its length.
    pub bytes: u64,
}

impl ArchiveDoc {
    /// The object as one line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("plain data with string and number keys always encodes")
    }
}
