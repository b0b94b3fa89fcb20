//! [`SearchResult`]: what a search found.

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchEnd {
    /// The knee is between two levels.
    Found,
    /// The highest level that may be tried still holds: a lower bound.
    Above,
    /// The lowest level does not hold.
    Below,
    /// The generator was the limit before the target was: a lower bound, if anything.
    Generator,
    /// Ended before its time.
    Stopped(StopReason),
}

impl SearchEnd {
    /// The word in the stored form.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::Above => "above",
            Self::Below => "below",
            Self::Generator => "generator",
            Self::Stopped(stop) => stop.name(),
        }
    }
}

/// Why a search ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The search was interrupted by a signal.
    Signal,
    /// The user stopped it from another process.
    Stopped,
    /// There was no time for another level.
    Time,
    /// Very many runs settled nothing.
    Runs,
    /// Levels stay undecided, however long they are.
    Undecided,
    /// A run was aborted.
    Broken,
    /// The target no longer answers, at levels that passed before.
    Target,
    /// The target changes with time, so that its levels contradict each other.
    Unsteady,
    /// Not yet ended.
    UnderWay,
}

impl StopReason {
    /// The word in the stored form.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Signal => "signal",
            Self::Stopped => "stopped",
            Self::Time => "time",
            Self::Runs => "runs",
            Self::Undecided => "undecided",
            Self::Broken => "broken",
            Self::Target => "target",
            Self::Unsteady => "unsteady",
            Self::UnderWay => "under_way",
        }
    }
}

/// One level of the random order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The load.
    pub level: f64,
    /// Runs that say something of the target.
    pub runs: u32,
    /// Runs that met the thresholds.
    pub passed: u32,
    /// The chance to hold, never rising with the load.
    pub chance: f64,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResult {
    /// How it ended.
    pub end: SearchEnd,
    /// The best guess; of a lower bound the bound itself. `None` where nothing is known.
    pub knee: Option<f64>,
    /// The knee is not below this; `None` if nothing is known. For an open load it is the rate that
    /// the target is known to have done at [`low_level`](Self::low_level).
    pub low: Option<f64>,
    /// The level that passed and from which `low` follows.
    pub low_level: Option<f64>,
    /// Whether that is proven with [`CONFIDENCE`](crate::CONFIDENCE), and not only the highest
    /// level that passed.
    pub low_proven: bool,
    /// The knee is not above this; `None` where nothing is known.
    pub high: Option<f64>,
    /// Whether that is proven, and not only the lowest level that did not hold.
    pub high_proven: bool,
    /// The lowest level at which the generator was the limit.
    pub generator_at: Option<f64>,
    /// The levels of the random order, lowest first.
    pub points: Vec<Point>,
}
