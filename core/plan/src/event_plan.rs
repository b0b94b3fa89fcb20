//! [`EventPlan`]: what happens to a host while the load runs.

use crate::Nanos;

/// A command on a host at a planned instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPlan {
    /// On the run's clock.
    pub when: Nanos,
    /// The host's name in fleet or lab.
    pub host: String,
    /// What is done.
    pub run: String,
    /// What takes it back, at the end of the run and on any abort.
    pub undo: Option<String>,
}
