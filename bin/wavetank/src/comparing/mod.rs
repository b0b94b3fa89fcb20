//! Stored runs beside each other: `compare`, and `run … --baseline`.

mod chosen;
mod load;
mod page;
mod sides;

pub(crate) use chosen::load_all;
pub(crate) use load::{LoadedRun, load};
pub(crate) use page::page;
pub(crate) use sides::{comparable, compare_sides, each_once};
