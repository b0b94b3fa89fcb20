//! [`Load`]: what one phase does.

use std::sync::Arc;

use crate::{Nanos, PopulationCurve, RateCurve};

/// The load of a phase: one shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Load {
    /// Open model: sessions come on a schedule whatever the target does.
    Open {
        /// Sessions arriving, from the phase's start on.
        rate: RateCurve,
        /// How they are spaced.
        arrivals: Arrivals,
        /// The rate was given in requests, and a session is so many: `rate` is already that much slower.
        /// `None`: it was given in sessions.
        requests_each: Option<u64>,
    },
    /// Open model: sessions come at these instants, after the phase's start, in order.
    Trace {
        /// When; an instant may stand several times.
        times: Arc<[Nanos]>,
    },
    /// Closed model: so many virtual users, each repeating its scenario.
    Closed {
        /// Virtual users wanted.
        users: PopulationCurve,
        /// Each one leaves for good after so many sessions in this phase.
        sessions_each: Option<u64>,
    },
    /// So many connections, opened at the instants the shape says and kept. Each repeats its scenario; with a scenario
    /// without steps it is silent.
    Hold {
        /// Connections wanted.
        connections: PopulationCurve,
        /// Each one's user leaves for good after so many sessions in this phase, and his connection is closed.
        sessions_each: Option<u64>,
    },
    /// Nobody new; sessions that run go on.
    Pause,
}

impl Load {
    /// Users or connections wanted; `None` in the open model.
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

    /// Whether it is the open model's: sessions come whatever the target does.
    pub const fn is_open(&self) -> bool {
        matches!(self, Self::Open { .. } | Self::Trace { .. })
    }
}

/// Spacing of arrivals in the open model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// Arrival `i` falls where the integral of the rate reaches `i`.
    Even,
    /// A Poisson process from the seed.
    Poisson,
}
