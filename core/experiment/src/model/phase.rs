//! [`Phase`]: a period of load.

use wavetank_plan::Arrivals;
use wavetank_units::{Nanos, Rate};

use wavetank_grammar::{Span, Spanned};

use crate::factor::Factor;

/// A phase as written: one load, its length, and further settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Position in the file.
    pub place: Span,
    /// Its name, if it has one.
    pub name: Option<Spanned<String>>,
    /// Its load.
    pub load: Spanned<PhaseLoad>,
    /// `for`: its length.
    pub length: Option<Spanned<Nanos>>,
    /// `at`: rate at which users start or connections open, or slope of a rate.
    pub at: Option<Spanned<Rate>>,
    /// `step`, `every`, `ramp`.
    pub stairs: Option<Staircase>,
    /// `sessions`.
    pub sessions: Option<Spanned<Sessions>>,
    /// Spacing of arrivals.
    pub arrivals: Option<Arrivals>,
    /// Period of a wave.
    pub wave: Option<Spanned<Nanos>>,
    /// A periodic higher rate.
    pub spike: Option<Spike>,
    /// Open requests above which arrivals are dropped.
    pub max_open: Option<u64>,
    /// Maximum number of requests: `-n` of the command line, which no file can set.
    pub requests: Option<u64>,
    /// Connections of the pool: `connections:` of the file, or `-c` with `-r` on the command line.
    pub pool: Option<u64>,
    /// Whether the phase is stored but not judged.
    pub warmup: bool,
    /// Its start time; `None`: after the previous phase.
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

/// The values at the start and at the end, which are equal for a constant load.
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
    /// Open loop.
    Rate {
        /// Arrival rate.
        rate: FromTo<Rate>,
        /// Whether the rate counts requests instead of sessions.
        of_requests: bool,
    },
    /// Closed loop.
    Users(FromTo<u64>),
    /// Connections held open.
    Hold(FromTo<u64>),
    /// Arrivals from a file.
    Trace(Trace),
    /// No new sessions.
    Pause(Nanos),
}

/// Arrivals from a file, and how a rehearsal changes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The file's name.
    pub file: String,
    /// `--scale`: how many arrivals there are for each one of the file.
    pub scale: Factor,
    /// `--speed`: how many times as fast they come.
    pub speed: Factor,
}

/// Stairs between two values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Staircase {
    /// Height of one stair.
    pub step: StairHeight,
    /// Length of one stair.
    pub every: Nanos,
    /// Time to climb one stair.
    pub ramp: Option<Nanos>,
}

/// Height of a stair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StairHeight {
    /// Number of users or held connections.
    Count(u64),
    /// Arrival rate.
    Rate(Rate),
}

/// The number of sessions of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sessions {
    /// The phase ends after this many sessions have started.
    Total(u64),
    /// Each user leaves after this many sessions.
    Each(u64),
}

/// A periodic higher rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spike {
    /// The higher rate.
    pub rate: Rate,
    /// Its duration.
    pub length: Nanos,
    /// Time from the start of one spike to the start of the next.
    pub every: Nanos,
}
