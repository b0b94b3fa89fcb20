//! [`SizeEstimate`]: what `wavetank size` estimates for the same file before the run.

use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::part::Scene;
use crate::session::Session;

/// The estimate for one connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SizeEstimate {
    /// Bytes of the kernel and of both ends.
    pub(super) bytes_each: f64,
    /// Source addresses, each with all its ports.
    pub(super) sources: u64,
}

impl SizeEstimate {
    /// Computes the estimate for the scene's own file, which the load ran.
    pub(super) fn compute(session: &Session, scene: &Scene) -> Result<Self> {
        let file = session.folder.path().join(format!("{}.yaml", scene.part.name()));
        Self::read(&ask(session, &[&file.display().to_string(), "--service", "1ms"])?, scene.connections)
    }

    fn read(doc: &Value, connections: usize) -> Result<Self> {
        let both = value(doc, "load", "memory_each")? + value(doc, "server", "memory_each")?;
        Ok(Self {
            bytes_each: both / connections.max(1) as f64,
            sources: value(doc, "load", "source_addresses")? as u64,
        })
    }
}

/// Returns how many connections one source address can have to one target.
pub(super) fn connections_of_a_source(session: &Session, source: &str) -> Result<usize> {
    let doc = ask(session, &["-c", "1", "--source", source])?;
    Ok(value(&doc, "load", "connections_by_sources")? as usize)
}

fn ask(session: &Session, words: &[&str]) -> Result<Value> {
    let mut command = Command::new(&session.wavetank);
    let output =
        command.arg("size").args(words).args(["--format", "json"]).output().context("wavetank size")?;
    if !output.status.success() {
        bail!("wavetank size: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("no JSON")
}

/// Returns the answer `what` for the role `role`.
fn value(doc: &Value, role: &str, what: &str) -> Result<f64> {
    let answers = doc["answers"].as_array().context("answers")?;
    let found = answers.iter().find(|one| one["role"] == role && one["what"] == what);
    found.and_then(|one| one["value"].as_f64()).with_context(|| format!("{what} of {role}"))
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
        let read = SizeEstimate::read(&doc, 10).ok();
        assert_eq!(read, Some(SizeEstimate { bytes_each: 880.0, sources: 17 }));
        assert!(SizeEstimate::read(&serde_json::json!({}), 10).is_err());
        assert!(value(&doc, "load", "connections_by_sources").is_err());
    }
}
