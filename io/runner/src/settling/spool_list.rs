//! [`SpoolsDoc`]: what `agent spool list` prints, for the same version of this program.

use serde_json::{Value, json};
use wavetank_fleet::{Adjustments, EndCause};

/// Starts the lines that `agent spool` prints: startup files of shells may write lines, too.
pub const SPOOL_MARK: &str = "wavetank-spool ";

/// The spools of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpoolsDoc {
    /// CPUs of the host.
    pub cores: u32,
    /// By run.
    pub spools: Vec<SpoolDoc>,
}

/// A spool of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpoolDoc {
    /// Number of the run.
    pub run: u64,
    /// The agent carries out the run now.
    pub running: bool,
    /// The file has no readable first line: all else is unknown.
    pub damaged: bool,
    /// Name of the agent.
    pub agent: String,
    /// Epoch of its intervals.
    pub epoch: u64,
    /// SHA-256 of the run's plan.
    pub plan_hash: String,
    /// One more than the number of its last interval.
    pub intervals: u64,
    /// How the agent ended. A spool without an end is that of a process that was killed.
    pub cause: Option<EndCause>,
    /// Changes and new shares that it received.
    pub adjustments: Adjustments,
}

impl SpoolsDoc {
    /// Returns it as one line of JSON.
    pub fn json(&self) -> Value {
        json!({"cores": self.cores, "spools": self.spools.iter().map(SpoolDoc::json).collect::<Vec<_>>()})
    }

    /// Returns the listing in the output of a host.
    pub fn from_output(output: &str) -> Option<Self> {
        let mut lines = output.lines().filter_map(|line| line.strip_prefix(SPOOL_MARK));
        lines.find_map(Self::read)
    }

    /// Reads such a line; `None` if it is none.
    fn read(line: &str) -> Option<Self> {
        let doc: Value = serde_json::from_str(line).ok()?;
        let spools = doc["spools"].as_array()?.iter().map(SpoolDoc::read).collect::<Option<_>>()?;
        Some(Self { cores: u32::try_from(doc["cores"].as_u64()?).ok()?, spools })
    }
}

impl SpoolDoc {
    fn json(&self) -> Value {
        let Self { run, running, damaged, agent, epoch, plan_hash, intervals, cause, adjustments } = self;
        json!({
            "run": run, "running": running, "damaged": damaged, "agent": agent, "epoch": epoch,
            "plan_hash": plan_hash, "intervals": intervals, "cause": cause, "adjustments": adjustments,
        })
    }

    fn read(doc: &Value) -> Option<Self> {
        Some(Self {
            run: doc["run"].as_u64()?,
            running: doc["running"].as_bool()?,
            damaged: doc["damaged"].as_bool()?,
            agent: doc["agent"].as_str()?.to_owned(),
            epoch: doc["epoch"].as_u64()?,
            plan_hash: doc["plan_hash"].as_str()?.to_owned(),
            intervals: doc["intervals"].as_u64()?,
            cause: serde_json::from_value(doc["cause"].clone()).ok()?,
            adjustments: serde_json::from_value(doc["adjustments"].clone()).ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_is_read_as_it_was_printed() {
        let spool = SpoolDoc {
            run: 1_764_000_000_000_123,
            agent: "load1".to_owned(),
            epoch: 1_764_000_000_000,
            plan_hash: "7f3a".to_owned(),
            intervals: 12,
            cause: Some(EndCause::Orphaned),
            adjustments: Adjustments { received: 2, refused: 1 },
            ..SpoolDoc::default()
        };
        let crashed = SpoolDoc { cause: None, running: true, damaged: true, ..spool.clone() };
        let doc = SpoolsDoc { cores: 8, spools: vec![spool, crashed] };
        assert_eq!(SpoolsDoc::read(&doc.json().to_string()), Some(doc));
        assert_eq!(SpoolsDoc::read("{}"), None);
    }
}
