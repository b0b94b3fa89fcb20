//! The commands, one file per command. Each returns the exit code of the process.

#[cfg(target_os = "linux")]
mod agent;
#[cfg(target_os = "linux")]
mod baseline;
mod bounded_file;
#[cfg(target_os = "linux")]
mod broker_access;
#[cfg(target_os = "linux")]
mod calibrate;
mod check;
mod compare;
mod completions;
#[cfg(target_os = "linux")]
mod control;
#[cfg(target_os = "linux")]
mod demo;
mod doctor;
mod explain;
#[cfg(target_os = "linux")]
mod fleet;
mod lab;
mod man;
#[cfg(target_os = "linux")]
mod net;
mod new;
#[cfg(target_os = "linux")]
mod observe;
#[cfg(target_os = "linux")]
mod once;
#[cfg(target_os = "linux")]
mod plan;
#[cfg(target_os = "linux")]
mod planned_load;
mod report;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod run_file;
#[cfg(target_os = "linux")]
mod run_surroundings;
mod runs;
mod schema;
#[cfg(target_os = "linux")]
mod search;
#[cfg(target_os = "linux")]
mod serve;
mod size;
mod terminal_width;
#[cfg(target_os = "linux")]
mod try_file;
#[cfg(target_os = "linux")]
mod ui;
#[cfg(any(test, not(target_os = "linux")))]
mod unsupported_os;

#[cfg(target_os = "linux")]
pub(crate) use agent::agent;
#[cfg(target_os = "linux")]
pub(crate) use calibrate::{calibrate, calibration_target};
pub(crate) use check::check;
pub(crate) use compare::compare;
pub(crate) use completions::completions;
#[cfg(target_os = "linux")]
pub(crate) use control::control;
#[cfg(target_os = "linux")]
pub(crate) use demo::demo;
pub(crate) use doctor::doctor;
pub(crate) use explain::explain;
#[cfg(target_os = "linux")]
pub(crate) use fleet::fleet;
#[cfg(target_os = "linux")]
pub(crate) use lab::lab;
pub(crate) use man::man;
#[cfg(target_os = "linux")]
pub(crate) use net::net;
pub(crate) use new::new;
#[cfg(target_os = "linux")]
pub(crate) use observe::observe;
#[cfg(target_os = "linux")]
pub(crate) use plan::plan;
pub(crate) use report::report;
#[cfg(target_os = "linux")]
pub(crate) use run::run;
pub(crate) use runs::runs;
pub(crate) use schema::schema;
#[cfg(target_os = "linux")]
pub(crate) use search::search;
#[cfg(target_os = "linux")]
pub(crate) use serve::serve;
pub(crate) use size::size;
#[cfg(target_os = "linux")]
pub(crate) use try_file::try_file;
#[cfg(target_os = "linux")]
pub(crate) use ui::ui;
#[cfg(not(target_os = "linux"))]
pub(crate) use unsupported_os::{
    agent, calibrate, calibration_target, control, demo, fleet, lab, net, observe, plan, run, search, serve,
    try_file, ui,
};
