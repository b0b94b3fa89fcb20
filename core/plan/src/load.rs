//! [`Load`]: what one phase does.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use wavetank_units::Nanos;

use crate::{PopulationCurve, RateCurve};

/// The load of a phase: one shape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Load {
    /// Open loop: sessions arrive on a schedule, regardless of the target.
    Open {
        /// Sessions arriving, from the phase's start on.
        rate: RateCurve,
        /// How they are spaced.
        arrivals: Arrivals,
        /// The rate was given in requests, and each session has this number of them; `rate` is
        /// already divided by it. `None`: the rate was given in sessions.
        requests_each: Option<u64>,
    },
    /// Open loop: sessions arrive at these instants, after the phase's start, in order.
    Trace {
        /// The arrival times; one instant may occur several times.
        times: Arc<[Nanos]>,
    },
    /// Closed loop: this number of virtual users, each repeating its scenario.
    Closed {
        /// Target number of virtual users.
        users: PopulationCurve,
        /// Each user leaves permanently after this number of sessions in this phase.
        sessions_each: Option<u64>,
    },
    /// This number of connections, opened at the instants of the shape and kept. Each repeats its
    /// scenario; with a scenario without steps it is silent.
    Hold {
        /// Target number of connections.
        connections: PopulationCurve,
        /// Each user leaves permanently after this number of sessions in this phase, and its
        /// connection is closed.
        sessions_each: Option<u64>,
    },
    /// No new sessions start; running sessions continue.
    Pause,
}

impl Load {
    /// Returns the target number of users or connections; `None` in the open loop.
    pub const fn levels(&self) -> Option<&PopulationCurve> {
        match self {
            Self::Closed { users, .. } => Some(users),
            Self::Hold { connections, .. } => Some(connections),
            Self::Open { .. } | Self::Trace { .. } | Self::Pause => None,
        }
    }

    /// Sessions that each user has in this phase at most.
    pub const fn sessions_each(&self) -> Option<u64> {
        match self {
            Self::Closed { sessions_each, .. } | Self::Hold { sessions_each, .. } => *sessions_each,
            Self::Open { .. } | Self::Trace { .. } | Self::Pause => None,
        }
    }

    /// Returns whether it is the open loop: sessions arrive regardless of the target.
    pub const fn is_open(&self) -> bool {
        matches!(self, Self::Open { .. } | Self::Trace { .. })
    }
}

/// Spacing of arrivals in the open loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Arrivals {
    /// Arrival `i` falls where the integral of the rate reaches `i`.
    Even,
    /// A Poisson process from the seed.
    Poisson,
}
