//! [`Sized`]: what `wavetank size` says beforehand of the same file.

use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::part::Scene;
use crate::bench::Session;

/// What is reckoned of one connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sized {
    /// Bytes of the kernel and of both ends.
    pub(super) bytes_each: f64,
    /// Source addresses, each with all its ports.
    pub(super) sources: u64,
}

impl Sized {
    /// Asks for the scene's own file, which the load was run from.
    pub(super) fn of(session: &Session, scene: &Scene) -> Result<Self> {
        let file = session.folder.path().join(format!("{}.yaml", scene.part.name()));
        let mut command = Command::new(&session.wavetank);
        command.arg("size").arg(file).args(["--service", "1ms", "--format", "json"]);
        let output = command.output().context("wavetank size")?;
        if !output.status.success() {
            bail!("wavetank size: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Self::read(&String::from_utf8_lossy(&output.stdout), scene.connections)
    }

    fn read(text: &str, connections: usize) -> Result<Self> {
        let doc: Value = serde_json::from_str(text).context("no JSON")?;
        let answers = doc["answers"].as_array().context("answers")?;
        let value = |role: &str, what: &str| {
            let found = answers.iter().find(|one| one["role"] == role && one["what"] == what);
            found.and_then(|one| one["value"].as_f64()).with_context(|| format!("{what} of {role}"))
        };
        let both = value("load", "memory_each")? + value("server", "memory_each")?;
        Ok(Self {
            bytes_each: both / connections.max(1) as f64,
            sources: value("load", "source_addresses")? as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_summed() {
        let one = |role: &str, what: &str, value: f64| serde_json::json!({"role": role, "what": what, "value": value, "shown": ""});
        let doc = serde_json::json!({"answers": [
            one("load", "source_addresses", 17.0),
            one("load", "memory_each", 4_500.0),
            one("server", "memory_each", 4_300.0),
        ]});
        let read = Sized::read(&doc.to_string(), 10).ok();
        assert_eq!(read, Some(Sized { bytes_each: 880.0, sources: 17 }));
        assert!(Sized::read("{}", 10).is_err());
    }
}
