//! What each command does, one file a command. Each returns the process's exit code.

mod completions;
#[cfg(target_os = "linux")]
mod demo;
#[cfg(any(test, not(target_os = "linux")))]
mod elsewhere;
mod man;
#[cfg(target_os = "linux")]
mod once;
mod report;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod serve;

pub(crate) use completions::completions;
#[cfg(target_os = "linux")]
pub(crate) use demo::demo;
#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{demo, run, serve};
pub(crate) use man::man;
pub(crate) use report::report;
#[cfg(target_os = "linux")]
pub(crate) use run::run;
#[cfg(target_os = "linux")]
pub(crate) use serve::serve;
