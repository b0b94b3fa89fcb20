//! Stored runs beside each other: `compare`, and `run … --baseline`.

mod load;
mod page;
mod sides;

pub(crate) use load::{LoadedRun, load};
pub(crate) use page::page;
pub(crate) use sides::compare_sides;
