//! What a [`RunRecord`](crate::RunRecord) tells of connections that were held.

use serde::{Deserialize, Serialize};

use crate::Number;

/// Connections in the time of one hold phase, whatever phase they were opened in:
/// `opening_before + offered = opened + failed + opening`, and `open_before + opened = closed + lost + open`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseConnections {
    /// Wanted by this phase at most at one time.
    pub planned: u64,
    /// Being opened when it began.
    pub opening_before: u64,
    /// Open when it began.
    pub open_before: u64,
    /// Openings begun.
    pub offered: u64,
    /// Being opened at its end.
    pub opening: u64,
    /// Opened, re-openings included.
    pub opened: u64,
    /// Could not be opened.
    pub failed: u64,
    /// Ended by us, or announced by the peer.
    pub closed: u64,
    /// Ended although the plan still wanted them.
    pub lost: u64,
    /// Of `opened`, replacing a lost one.
    pub reopened: u64,
    /// Of `offered`, begun later than the late tolerance.
    pub late: u64,
    /// Open at its end.
    pub open: u64,
    /// Most open at once.
    pub peak: u64,
    /// Fewest open at a seal of its time.
    pub held_min: u64,
}

/// A phase that held one and the same number of connections.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeldDoc {
    /// Its name.
    pub phase: String,
    /// Connections that all hold phases wanted together, in the second with the fewest.
    pub planned: u64,
    /// Seconds it lasted.
    pub seconds: u64,
    /// Fewest connections open at the end of one of them.
    pub lowest: u64,
    /// End of that second, the first of several, in seconds on the run's clock.
    pub lowest_at_s: Number,
    /// Lost in its time.
    pub lost: u64,
    /// Of those opened in its time, the ones that replaced a lost one.
    pub reopened: u64,
}
