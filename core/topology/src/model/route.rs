//! [`Route`]: the way of packets to another network.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use wavetank_grammar::Span;
use wavetank_units::Network as Subnet;

/// A route of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// The destination addresses; `0.0.0.0/0` or `::/0` is the default route.
    #[serde(with = "super::serde_with::subnet")]
    pub to: Subnet,
    /// The next hop, which is on a network of the host.
    pub via: IpAddr,
    /// Position in the file, or the service that needs it.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
}
