//! [`Release`]: which state of the sources this is.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::program;

/// The state that is packed.
pub(super) struct Release {
    /// As in Cargo.toml.
    pub(super) version: String,
    /// Time of all files in an archive, in seconds since 1970, so that one state makes one archive:
    /// `SOURCE_DATE_EPOCH` where it is set (reproducible-builds.org), else the commit's time.
    pub(super) epoch_s: u64,
}

impl Release {
    pub(super) fn from_root(root: &Path) -> Result<Self> {
        let arguments = ["metadata", "--no-deps", "--format-version", "1"];
        let metadata = program::output(program::cargo(root).args(arguments))?;
        let version = version(&metadata)?;
        let epoch = match std::env::var("SOURCE_DATE_EPOCH") {
            Ok(set) => set,
            Err(_) => committed(root)?,
        };
        let epoch_s = epoch.trim().parse().with_context(|| format!("`{epoch}` is no time in seconds"))?;
        Ok(Self { version, epoch_s })
    }

    /// Returns the name of the folder that an archive unpacks to.
    pub(super) fn folder(&self) -> String {
        format!("wavetank-{}", self.version)
    }
}

/// Returns the time of the commit. An unpacked source bundle has no commit, so the time of the
/// change log replaces it.
fn committed(root: &Path) -> Result<String> {
    let log = Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root).output();
    if let Ok(log) = log
        && log.status.success()
    {
        return String::from_utf8(log.stdout).context("git log");
    }
    let changed = std::fs::metadata(root.join("CHANGELOG.md")).and_then(|file| file.modified());
    let since = changed.context("CHANGELOG.md")?.duration_since(std::time::UNIX_EPOCH);
    Ok(since.context("the time of CHANGELOG.md")?.as_secs().to_string())
}

fn version(metadata: &str) -> Result<String> {
    let metadata: Value = serde_json::from_str(metadata).context("cargo metadata")?;
    for package in metadata["packages"].as_array().context("packages")? {
        if package["name"] == "wavetank" {
            return Ok(package["version"].as_str().context("version")?.to_owned());
        }
    }
    bail!("there is no package wavetank")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_programs() {
        let metadata =
            r#"{"packages":[{"name":"xtask","version":"9.9.9"},{"name":"wavetank","version":"0.3.1"}]}"#;
        assert_eq!(version(metadata).expect("names a version"), "0.3.1");
        assert!(version(r#"{"packages":[]}"#).is_err());
    }
}
