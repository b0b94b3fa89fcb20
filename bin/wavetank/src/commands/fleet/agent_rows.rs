//! [`AgentRow`]: what became of the agent of one host, as a row of a table.

use serde_json::{Value, json};
use wavetank_units::sanitize;

/// What became of the agent of one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AgentRow {
    /// Name of the host.
    pub(super) host: String,
    /// State, as in JSON: `started`, `already_running`, …
    pub(super) state: &'static str,
    /// Why it failed.
    pub(super) reason: Option<String>,
}

impl AgentRow {
    pub(super) fn new(host: &str, state: &'static str) -> Self {
        Self { host: host.to_owned(), state, reason: None }
    }

    pub(super) fn failed(host: &str, reason: impl Into<String>) -> Self {
        Self { host: host.to_owned(), state: "failed", reason: Some(reason.into()) }
    }

    pub(super) fn is_failed(&self) -> bool {
        self.reason.is_some()
    }

    pub(super) fn json(&self) -> Value {
        json!({"host": self.host, "state": self.state, "reason": self.reason})
    }
}

/// Returns a line for each host.
pub(super) fn table(rows: &[AgentRow]) -> String {
    let width = rows.iter().map(|row| row.host.chars().count()).max().unwrap_or(0);
    let line = |row: &AgentRow| {
        let reason = row.reason.as_ref().map(|reason| format!(": {}", sanitize(reason)));
        format!("{:width$}  {}{}\n", row.host, row.state.replace('_', " "), reason.unwrap_or_default())
    };
    rows.iter().map(line).collect()
}
