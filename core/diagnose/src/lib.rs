//! What the numbers mean: doubts, findings, verdict and blame.
//!
//! This crate alone composes the verdict (contract §5). It reads facts that others measured and knows no
//! sockets, files or clocks; the same facts give the same verdict, so an archive can be judged again.

mod around;
mod blame;
mod classes;
mod compose;
mod doubts;
mod drift;
mod ending;
mod facts;
mod failures;
mod finding;
mod held;
mod matters;
mod notes;
mod standstill;
mod tls;
mod trend;
mod verdict;
mod words;

pub use around::{Around, AroundCheck, AroundFault};
pub use classes::hint_for;
pub use compose::{diagnose, diagnose_facts};
pub use ending::{Circumstances, Ending};
pub use facts::Facts;
pub use finding::{Blame, Finding};
pub use verdict::{Diagnosis, Status, Verdict};
