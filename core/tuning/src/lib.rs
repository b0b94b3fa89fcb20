//! Settings of hosts and servers: what each does, which values are wrong, what a load needs, and
//! how to change them and back.
//!
//! Everything is text and numbers in, values out. `io/settings` reads and writes the host.

pub mod catalogue;
mod change;
mod file_kind;
mod finding;
pub mod fuzzing;
pub mod haproxy;
mod host;
mod kernel_version;
pub mod limits;
mod lint_context;
mod lint_files;
pub mod nginx;
mod script;
mod snapshot;
pub mod sysctl;
pub mod systemd;
mod typo;
mod verdict;

pub use change::{
    ChangePlan, DropIns, FileChange, Journal, JournalEntry, LIMITS_DROP_IN, PrintFormat, SYSCTL_DROP_IN,
    ValueChange, print_changes, unit_drop_in,
};
pub use file_kind::FileKind;
pub use finding::{Finding, Judgement, Place};
pub use host::{FileLimit, Fix, HostState, Job, Row, check_host};
pub use kernel_version::KernelVersion;
pub use lint_context::LintContext;
pub use lint_files::{LintFile, lint_files};
pub use snapshot::{
    SNAPSHOT_LISTENERS, SNAPSHOT_SERVERS, Snapshot, snapshot_paths, snapshot_script, sysctl_path,
};
pub use verdict::{Severity, Verdict};
