//! [`KeyPlace`]: where a key stands in the file.

use serde::{Deserialize, Serialize};
use wavetank_experiment::Place;

/// A key of a service and the place of its value, so that a message about a line made of it can show the file's line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyPlace {
    /// The key: `listen`, `servers`, `timeouts.connect`.
    pub key: String,
    /// Where its value stands.
    #[serde(with = "super::carried::place")]
    pub place: Place,
}
