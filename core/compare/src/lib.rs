//! Whether two sides of runs differ, by how much, and how sure that is.
//!
//! Runs of one thing differ from each other, and seconds of one run are like the seconds before them; a comparison that
//! forgets either finds differences everywhere. Here each side is a few runs, each run a row of columns. What a value
//! may be off by comes from drawing runs and blocks of columns again and again (a bootstrap on both levels), what that says
//! of few runs is corrected by Student's t, and many values compared at once by Holm. Everything drawn comes from a seed:
//! the same runs compare the same on any machine.

mod block;
mod compared;
mod cut;
mod doc;
mod estimate;
mod holm;
mod likeness;
mod measure;
mod ratio;
mod strip;
mod student;
mod table;

pub use compared::{Compared, RunData, Wishes, compared};
pub use cut::{Cut, Cutter, STEPS_MAX, ScopeCut, Timed};
pub use doc::{Told, compare_doc};
pub(crate) use estimate::DRAWS;
pub use estimate::Estimate;
pub use holm::holm;
pub use likeness::{Machine, alike, machines, same_kind};
pub use measure::Measure;
pub(crate) use ratio::runs_needed;
pub use ratio::{Basis, Ratio};
pub use strip::Strip;
