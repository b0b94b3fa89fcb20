//! [`Phase`]: a stretch of load.

use wavetank_plan::{Arrivals, Nanos, Rate};

use crate::{Span, Spanned};

/// A phase as written: one load, what fixes its length, extras.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Position in the file.
    pub place: Span,
    /// Its name, if it has one.
    pub name: Option<Spanned<String>>,
    /// What it does.
    pub load: Spanned<PhaseLoad>,
    /// `for`: its length.
    pub length: Option<Spanned<Nanos>>,
    /// `at`: speed of starting users or opening connections, or of a rate's climbing.
    pub at: Option<Spanned<Rate>>,
    /// `step`, `every`, `ramp`.
    pub stairs: Option<Staircase>,
    /// `sessions`.
    pub sessions: Option<Spanned<Sessions>>,
    /// Spacing of arrivals.
    pub arrivals: Option<Arrivals>,
    /// Time of one swing.
    pub wave: Option<Spanned<Nanos>>,
    /// A higher rate now and then.
    pub spike: Option<Spike>,
    /// Open requests at most.
    pub max_open: Option<u64>,
    /// Requests offered at most: `-n` of the command line, which no file says.
    pub requests: Option<u64>,
    /// Connections of the pool: `connections:` of the file, or `-c` with `-r` on the command line.
    pub pool: Option<u64>,
    /// Kept, not judged.
    pub warmup: bool,
    /// When it starts, instead of after the one before.
    pub from: Option<Spanned<Nanos>>,
}

impl Phase {
    /// Whether sessions arrive by a rate or a trace.
    pub(crate) const fn is_open(&self) -> bool {
        matches!(self.load.value, PhaseLoad::Rate { .. } | PhaseLoad::Trace(_))
    }

    /// Whether its sessions may share a pool.
    pub(crate) const fn has_requests(&self) -> bool {
        !matches!(self.load.value, PhaseLoad::Hold(_) | PhaseLoad::Pause(_))
    }
}

/// From one value to another; both the same if it stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FromTo<T> {
    /// At the start.
    pub from: T,
    /// At the end.
    pub to: T,
}

/// The load of a phase.
#[derive(Clone, Debug, PartialEq)]
pub enum PhaseLoad {
    /// Open model.
    Rate {
        /// Arrivals per time.
        rate: FromTo<Rate>,
        /// What arrives are requests, not sessions.
        of_requests: bool,
    },
    /// Closed model.
    Users(FromTo<u64>),
    /// Connections kept.
    Hold(FromTo<u64>),
    /// Arrivals from a file.
    Trace(String),
    /// No new sessions.
    Pause(Nanos),
}

/// Climbing by stairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Staircase {
    /// Height of one.
    pub step: StairHeight,
    /// Length of one.
    pub every: Nanos,
    /// Time in which it is climbed.
    pub ramp: Option<Nanos>,
}

/// Height of a stair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StairHeight {
    /// Of users and hold.
    Count(u64),
    /// Of rate.
    Rate(Rate),
}

/// How many sessions a phase has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sessions {
    /// Until this many have started.
    Total(u64),
    /// For each user this many, who then leaves.
    Each(u64),
}

/// A higher rate now and then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spike {
    /// The rate.
    pub rate: Rate,
    /// For how long.
    pub length: Nanos,
    /// From the start of one to the start of the next.
    pub every: Nanos,
}
