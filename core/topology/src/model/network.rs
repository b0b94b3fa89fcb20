//! [`Network`]: what hosts are plugged into.

use serde::{Deserialize, Serialize};
use wavetank_grammar::Span;
use wavetank_plan::Network as Subnet;

/// A network of a lab: one bridge, nothing else on it than the lab's hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// Its name in the file.
    pub name: String,
    /// The addresses that its hosts have.
    #[serde(with = "super::serde_with::subnet")]
    pub subnet: Subnet,
    /// Where it stands in the file.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
}
