//! Where the knee lies: the highest load that still meets what is asked of it.
//!
//! [`Search`] is a state machine. It says which level of load is to be tried next and is told how that went; it knows
//! no sockets, clocks or runs. It climbs until a level fails, halves the bracket until it is narrow, tries several
//! levels inside it several times in random order, and goes beyond the bracket where those do not settle the answer.
//! [`SearchWithLiveness`] is one that ends when its target is gone.
//!
//! The *knee* is where the chance that a run meets the thresholds falls through one half, that chance never rising with
//! the load. A target that meets them always up to some load and never beyond has its knee there. Of an open load the answer
//! is what is sure to have been done in time, so that a queue that did not yet break a threshold is not taken for capacity.

mod answer;
mod bounds;
mod fit;
mod granularity;
mod ladder;
mod liveness;
mod messages;
mod overload;
mod search;
mod setup;
mod shuffle;
mod sustained_share;
mod tally;

pub use answer::{Point, SearchEnd, SearchResult, StopReason};
pub use bounds::CONFIDENCE;
pub(crate) use bounds::bounds;
pub(crate) use fit::{half_crossing, isotonic_fit};
pub use granularity::Granularity;
pub use liveness::SearchWithLiveness;
pub use messages::{RunOutcome, RunRequest, Stage};
pub use overload::{GROWTH_MAX, QueueGrowth};
pub use search::Search;
pub use setup::Setup;
pub(crate) use tally::{LevelTallies, LevelTally};
