//! The meaning of the numbers: doubts, findings, verdict and blame.
//!
//! Only this crate composes the verdict (`docs/measuring.md` §5). It reads measured facts and does
//! not use sockets, files or clocks. The same facts give the same verdict, so that an archive can
//! be judged again.

mod blame;
mod bottleneck;
mod compose;
mod cut_short;
mod doubt_scope;
mod drift;
mod error_class_text;
mod facts;
mod failures;
mod finding;
mod finding_code;
mod fix;
mod fleet;
mod format;
mod held;
mod hooks;
mod notes;
mod openings;
mod pool;
mod reason;
mod run_end;
mod stall;
mod tls;
mod trend;
mod validity_rules;
mod verdict;

pub use compose::{diagnose, diagnose_facts};
pub use error_class_text::hint_for;
pub use facts::Facts;
pub use finding::Finding;
pub use finding_code::FindingCode;
pub use fix::{Configured, Fix, FixAction};
pub use fleet::FleetGaps;
pub use hooks::{HookCheck, HookFailure, HookResult};
pub use reason::ReasonCode;
pub use run_end::{BalancedServer, BalancerCounts, RunContext, RunEnd, Throttling};
pub use verdict::{Diagnosis, Verdict};
pub use wavetank_record::{Blame, Status};
