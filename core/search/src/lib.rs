//! Finds the knee: the highest load that still meets the thresholds.
//!
//! [`Search`] is a state machine. It says which level of load to try next and is given the outcome;
//! it knows no sockets, clocks or runs. It climbs until a level fails and halves the bracket until
//! it is narrow. Then it tries several levels inside it several times in random order, and goes
//! beyond the bracket if those do not settle the result. [`SearchWithLiveness`] also ends when its
//! target is gone.
//!
//! The *knee* is where the chance that a run meets the thresholds falls through one half, given
//! that this chance never rises with the load. A target that always passes up to some load and
//! never beyond has its knee there. For an open load the result is the rate that was certainly done
//! in time, so that a queue that did not yet fail a threshold is not mistaken for capacity.

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
mod variable;

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
pub use variable::{SearchTiming, SearchVariable};
