//! What a host is like, and what is wrong with it for a job.

mod checks;
mod facts;
mod job;
mod job_checks;
mod machine_checks;
mod network_checks;
mod row;
mod setting_checks;

pub use checks::check_host;
pub use facts::{FileLimit, HostState};
pub use job::Job;
pub use row::{Fix, Row};
