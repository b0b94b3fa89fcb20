//! What each command does, one file a command. Each returns the process's exit code.

mod demo;
mod once;
mod report;
mod run;
mod serve;

pub(crate) use demo::demo;
pub(crate) use report::report;
pub(crate) use run::run;
pub(crate) use serve::serve;
