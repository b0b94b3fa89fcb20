//! What a search varies, and how long its parts take.

use wavetank_units::Nanos;

/// The quantity that a search varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchVariable {
    /// Arrival rate.
    Rate,
    /// Virtual users.
    Users,
    /// Connections.
    Connections,
}

impl SearchVariable {
    /// Its name on the command line and in stored searches.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Users => "users",
            Self::Connections => "connections",
        }
    }
}

/// Durations of the parts of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchTiming {
    /// Length of a level without its warm-up.
    pub length: Nanos,
    /// Warm-up before a level, with the same load.
    pub warmup: Nanos,
    /// Pause after a level.
    pub settle: Nanos,
    /// Time limit of the whole search.
    pub max_time: Option<Nanos>,
}
