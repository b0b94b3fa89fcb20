//! Changes of a host: what to write, how to write it down first, and how to take it back.

mod drop_in;
mod journal;
mod plan;
mod print;

pub use drop_in::{LIMITS_DROP_IN, SYSCTL_DROP_IN, unit_drop_in};
pub use journal::{Journal, JournalEntry};
pub use plan::{ChangePlan, DropIns, FileChange, ValueChange};
pub use print::{PrintFormat, print_changes};
