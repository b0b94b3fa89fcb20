//! [`StatsdEncoder`]: datagrams of StatsD.
//!
//! Source: "StatsD Metric Types" of statsd: `NAME:VALUE|TYPE`. The original has no labels, so their
//! values are parts of the name.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::snapshot::{Labels, Snapshot, Value};

/// Encodes snapshots as differences from the last one that was sent.
#[derive(Debug, Default)]
pub struct StatsdEncoder {
    /// The run that was counted.
    run: String,
    sent: BTreeMap<String, u64>,
    latest: BTreeMap<String, u64>,
}

impl StatsdEncoder {
    /// One line for each series that has changed. Counters are `|c` with their difference from the
    /// latest [`commit`](Self::commit) of the same run, gauges are `|g`. Histograms are left out:
    /// percentiles of the interval are gauges of their own.
    pub fn encode(&mut self, snapshot: &Snapshot) -> Vec<String> {
        let mut lines = Vec::new();
        self.latest.clear();
        if self.run != snapshot.run {
            snapshot.run.clone_into(&mut self.run);
            self.sent.clear();
        }
        for family in &snapshot.families {
            let base = family.metric.base.strip_prefix("wavetank_").unwrap_or(family.metric.base);
            for point in &family.points {
                let name = format!("wavetank.{base}{}", path(&point.labels));
                match &point.value {
                    Value::Count(count) => {
                        let grown = count.saturating_sub(self.sent.get(&name).copied().unwrap_or(0));
                        if grown > 0 {
                            lines.push(format!("{name}:{grown}|c\n"));
                        }
                        self.latest.insert(name, *count);
                    }
                    // A gauge with a sign would be a change of the former value.
                    Value::Gauge(value) => lines.push(format!("{name}:{}|g\n", value.max(0.0))),
                    Value::Buckets(_) => {}
                }
            }
        }
        lines
    }

    /// What was encoded last has been sent.
    pub fn commit(&mut self) {
        self.sent.append(&mut self.latest);
    }
}

/// The values of all labels except the run, each as one part of the name.
fn path(labels: &Labels) -> String {
    let parts = labels.iter().filter(|(name, _)| *name != "run");
    parts.fold(String::new(), |mut text, (_, value)| {
        let _ = write!(text, ".{}", part(value));
        text
    })
}

/// A part of a name: everything but letters, digits, `-` and `_` is replaced.
fn part(value: &str) -> String {
    let plain = |char: char| if char.is_ascii_alphanumeric() || char == '-' { char } else { '_' };
    value.chars().map(plain).collect()
}
