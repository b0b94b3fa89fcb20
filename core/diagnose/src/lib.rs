//! What the numbers mean: doubts, findings, verdict and blame.
//!
//! This crate alone composes the verdict (contract §5). It reads facts that others measured and knows no
//! sockets, files or clocks; the same facts give the same verdict, so an archive can be judged again.

mod ending;
mod finding;
mod verdict;

pub use ending::{Circumstances, Ending};
pub use finding::{Blame, Finding};
pub use verdict::{Diagnosis, Status, Verdict};
