//! [`KeySpan`]: where a key stands in the file.

use serde::{Deserialize, Serialize};
use wavetank_grammar::{Entry, Span};

/// A key of a service and the place of its value, so that a message about a line made of it can show the file's line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeySpan {
    /// The key: `listen`, `servers`, `timeouts.connect`.
    pub key: String,
    /// Where its value stands.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
}

impl KeySpan {
    /// The keys of a map, those of maps inside it with a dot.
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
