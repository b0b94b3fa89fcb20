//! Turns the text of a topology file into a [`Lab`], diagnostics and the configuration files of its
//! services.
//!
//! Nothing here creates anything. Pure functions decide what the lab consists of, whether it is
//! possible, and how its programs are configured. Every mistake is therefore known before the first
//! namespace exists. [`read`] takes the bytes of the file, the files that it names, and the known
//! facts about the machine. It reports all mistakes together, each with its position and a hint.

mod action;
mod ast;
mod grammar;
mod input;
mod machine;
mod model;
pub mod own;
mod page;
mod parse;
pub mod render;
mod resolve;
mod routing;
mod schema;

pub use action::{
    EVENTS_MAX, HostAction, PoolAction, ServerMode, parse_fault, parse_pool_change, planned_events, pools_of,
};
pub use input::{Input, Parsed, read};
pub use machine::MachineFacts;
pub use model::*;
pub use page::page;
pub use routing::{KEEPALIVED_CONFIG, Maglev, NftBalancer, Pool, PoolChange, keepalived};
pub use schema::schema;
pub use wavetank_units::Network as Subnet;
