//! [`BackendCheck`]: how a balancer finds out that a server behind it is dead.

use serde::{Deserialize, Serialize};
use wavetank_units::Nanos;

/// A balancer's check of each server behind it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackendCheck {
    /// A GET of this path must return a status from 200 to 399. With `None`, accepting a connection
    /// is enough.
    pub path: Option<String>,
    /// Interval between two checks of one server.
    #[serde(with = "super::serde_with::nanos")]
    pub every: Nanos,
    /// Timeout of one check. A check that takes longer fails.
    #[serde(with = "super::serde_with::nanos")]
    pub timeout: Nanos,
    /// Number of consecutive failed checks that take a server out, from 1.
    pub fall: u32,
    /// Number of consecutive successful checks that bring it back, from 1.
    pub rise: u32,
}

impl Default for BackendCheck {
    fn default() -> Self {
        let (every, timeout) = (Nanos::SECOND, Nanos::SECOND);
        Self { path: None, every, timeout, fall: 2, rise: 2 }
    }
}
