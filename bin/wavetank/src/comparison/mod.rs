//! Compares stored runs: `compare`, and `run … --baseline`.

// Only Linux runs loads.
mod load;
mod networks;
mod page;
#[cfg(target_os = "linux")]
mod precheck;
mod select;
mod sides;

pub(crate) use load::{LoadedRun, load};
pub(crate) use networks::{compare_nets, load_networks};
pub(crate) use page::page;
#[cfg(target_os = "linux")]
pub(crate) use precheck::check_comparable;
pub(crate) use select::load_all;
#[cfg(target_os = "linux")]
pub(crate) use sides::check_distinct;
pub(crate) use sides::compare_sides;
