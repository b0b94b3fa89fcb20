//! Stored runs beside each other: `compare`, and `run … --baseline`.

// Only Linux runs loads.
#[cfg(target_os = "linux")]
mod ahead;
mod chosen;
mod load;
mod page;
mod sides;

#[cfg(target_os = "linux")]
pub(crate) use ahead::comparable;
pub(crate) use chosen::load_all;
pub(crate) use load::{LoadedRun, load};
pub(crate) use page::page;
pub(crate) use sides::compare_sides;
#[cfg(target_os = "linux")]
pub(crate) use sides::each_once;
