//! [`KeySpan`]: the position of a key in the file.

use serde::{Deserialize, Serialize};
use wavetank_grammar::{Entry, Span};

/// A key of a service and the position of its value. With it, a message about a generated line can
/// show the line of the topology file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeySpan {
    /// The key: `listen`, `servers`, `timeouts.connect`.
    pub key: String,
    /// Position of its value.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
}

impl KeySpan {
    /// Returns the keys of a map. Keys of nested maps are joined with a dot.
    pub(crate) fn all(entries: &[Entry]) -> Vec<Self> {
        let mut all = Vec::new();
        for entry in entries {
            all.push(Self { key: entry.key.clone(), place: entry.value.place });
            for inner in entry.value.entries().unwrap_or_default() {
                let key = format!("{}.{}", entry.key, inner.key);
                all.push(Self { key, place: inner.value.place });
            }
        }
        all
    }
}
