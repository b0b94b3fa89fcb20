//! [`PoolAction`]: gives servers behind a balancer more, fewer or no new connections.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A change of the pool of servers behind one balancer. Open connections stay on their servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolAction {
    /// The balancer, a service of the host.
    pub service: String,
    /// Servers by their indices in [`Service::backends`](crate::Service::backends), each with its
    /// new mode. The list is never empty.
    pub wishes: Vec<(usize, ServerMode)>,
}

/// The mode of a server in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ServerMode {
    /// The server gets no new connections.
    Drain,
    /// The server gets the share given in the topology file.
    Ready,
    /// The server's share of the new connections, up to [`ServerMode::WEIGHT_MAX`]; 0 is the same
    /// as [`Drain`](Self::Drain).
    Weight(u32),
}

impl ServerMode {
    /// Largest weight. The topology file has the same limit, which is that of `HAProxy`.
    pub const WEIGHT_MAX: u32 = 256;

    /// Returns the mode that restores `weight` for a server with weight `of_file` in the topology
    /// file.
    pub const fn restoring(weight: u32, of_file: u32) -> Self {
        if weight == 0 {
            Self::Drain
        } else if weight == of_file {
            Self::Ready
        } else {
            Self::Weight(weight)
        }
    }

    /// Returns the weight that this mode gives to a server with weight `of_file` in the topology
    /// file.
    pub const fn weight(self, of_file: u32) -> u32 {
        match self {
            Self::Drain => 0,
            Self::Ready => of_file,
            Self::Weight(weight) => weight,
        }
    }
}

impl fmt::Display for ServerMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drain => f.write_str("drain"),
            Self::Ready => f.write_str("ready"),
            Self::Weight(weight) => write!(f, "weight {weight}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_back_weighs_what_it_did() {
        for of_file in [1, 3, 256] {
            for weight in [0, 1, 2, 3, 256] {
                assert_eq!(ServerMode::restoring(weight, of_file).weight(of_file), weight, "{of_file}");
            }
        }
        let reported =
            [ServerMode::restoring(0, 3), ServerMode::restoring(3, 3), ServerMode::restoring(2, 3)];
        assert_eq!(reported.map(|wish| wish.to_string()), ["drain", "ready", "weight 2"]);
    }
}
