//! [`Route`]: where packets to other networks go.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use wavetank_grammar::Span;
use wavetank_plan::Network as Subnet;

/// A route of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// To which addresses; `0.0.0.0/0` or `::/0` is the default route.
    #[serde(with = "super::serde_with::subnet")]
    pub to: Subnet,
    /// Through which neighbour, who is on a network of the host.
    pub via: IpAddr,
    /// Where it stands in the file, or the service that brought it.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
}
