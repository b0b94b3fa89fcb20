//! Settings of hosts and servers: what each does, which values are wrong, what a load needs, and how
//! to change them and back.
//!
//! Everything is text and numbers in, values out. `io/settings` reads and writes the host.

pub mod catalogue;
mod file_kind;
mod finding;
pub mod fuzzing;
pub mod haproxy;
mod kernel_version;
pub mod limits;
mod lint_context;
mod lint_files;
pub mod nginx;
mod script;
pub mod sysctl;
pub mod systemd;
mod typo;
mod verdict;

pub use file_kind::FileKind;
pub use finding::{Finding, Judgement, Place};
pub use kernel_version::KernelVersion;
pub use lint_context::LintContext;
pub use lint_files::{LintFile, lint_files};
pub use verdict::{Severity, Verdict};
