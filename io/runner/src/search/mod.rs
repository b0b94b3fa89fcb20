//! A search: runs at levels of load until the highest that passes is known.

mod doc;
mod level;
mod search_loop;
mod settings;
mod verdict;

pub use level::level_rate;
pub use search_loop::run_search;
pub use settings::{SearchSettings, SearchedLoad};
