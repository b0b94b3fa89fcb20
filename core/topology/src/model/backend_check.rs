//! [`BackendCheck`]: how a balancer finds out that a server behind it is dead.

use serde::{Deserialize, Serialize};
use wavetank_plan::Nanos;

/// A balancer's check of each server behind it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackendCheck {
    /// A GET of this path must be answered with a status from 200 to 399; `None`: a connection must be accepted.
    pub path: Option<String>,
    /// Time between two checks of one server.
    #[serde(with = "super::serde_with::nanos")]
    pub every: Nanos,
    /// A check that takes longer has failed.
    #[serde(with = "super::serde_with::nanos")]
    pub timeout: Nanos,
    /// So many failed checks in a row take a server out, from 1.
    pub fall: u32,
    /// So many good ones in a row take it back in, from 1.
    pub rise: u32,
}

impl Default for BackendCheck {
    fn default() -> Self {
        let (every, timeout) = (Nanos::SECOND, Nanos::SECOND);
        Self { path: None, every, timeout, fall: 2, rise: 2 }
    }
}
