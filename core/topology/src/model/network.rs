//! [`Network`]: a network that connects hosts.

use serde::{Deserialize, Serialize};
use wavetank_grammar::Span;
use wavetank_units::Network as Subnet;

/// A network of a lab: one bridge to which only the lab's hosts are connected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// Its name in the file.
    pub name: String,
    /// The subnet of its hosts.
    #[serde(with = "super::serde_with::subnet")]
    pub subnet: Subnet,
    /// Position in the file.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
}
