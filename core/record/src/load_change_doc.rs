//! [`LoadChangeDoc`]: another load for the rest of a running phase.

use serde::{Deserialize, Serialize};
use wavetank_plan::LoadChange;
use wavetank_units::Nanos;

/// A new load for a running phase, as the total of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadChangeDoc {
    /// Open loop: `count` sessions in `per_ns` nanoseconds.
    #[serde(rename = "rate")]
    SessionRate {
        /// Sessions.
        count: u64,
        /// The time in which they arrive, in nanoseconds.
        per_ns: i64,
    },
    /// Closed loop: virtual users.
    Users(u64),
    /// Held connections.
    Connections(u64),
}

impl From<LoadChange> for LoadChangeDoc {
    fn from(change: LoadChange) -> Self {
        match change {
            LoadChange::Rate(wavetank_units::Rate { count, per }) => {
                Self::SessionRate { count, per_ns: per.0 }
            }
            LoadChange::Users(users) => Self::Users(users),
            LoadChange::Connections(connections) => Self::Connections(connections),
        }
    }
}

impl From<LoadChangeDoc> for LoadChange {
    fn from(doc: LoadChangeDoc) -> Self {
        match doc {
            // A length that is not positive would divide by nothing.
            LoadChangeDoc::SessionRate { count, per_ns } => {
                Self::Rate(wavetank_units::Rate { count, per: Nanos(per_ns.max(1)) })
            }
            LoadChangeDoc::Users(users) => Self::Users(users),
            LoadChangeDoc::Connections(connections) => Self::Connections(connections),
        }
    }
}
