//! Where the knee lies: the highest load that still meets what is asked of it.
//!
//! [`Search`] is a state machine. It says which level of load is to be tried next and is told how that went; it knows
//! no sockets, clocks or runs. It climbs until a level fails, halves the bracket until it is narrow, tries several
//! levels inside it several times in random order, and goes beyond the bracket where those do not settle the answer.
//! [`Watched`] is one that ends when its target is gone.
//!
//! The *knee* is where the chance that a run meets the thresholds falls through one half, that chance never rising with
//! the load. A target that meets them always up to some load and never beyond has its knee there. Of an open load the answer
//! is what is sure to have been done in time, so that a queue that did not yet break a threshold is not taken for capacity.

mod answer;
mod bounds;
mod fit;
mod grain;
mod kept;
mod ladder;
mod overload;
mod search;
mod seen;
mod setup;
mod shuffle;
mod tally;
mod watched;

pub use answer::{Answer, End, Point, Stop};
pub use bounds::CONFIDENCE;
pub(crate) use bounds::bounds;
pub(crate) use fit::{crossing, falling_fit};
pub use grain::Grain;
pub use overload::{Flow, GROWTH_MAX};
pub use search::Search;
pub use seen::{Seen, Stage, Wanted};
pub use setup::Setup;
pub(crate) use tally::{Tallied, Tally};
pub use watched::Watched;
