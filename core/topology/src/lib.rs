//! A lab on paper: the topology file's text in, a [`Lab`] and remarks about it out, and the configurations made of it.
//!
//! Nothing here creates anything: what a lab is, whether it can be, and what its programs are told is decided by pure
//! functions, so that every mistake is known before the first namespace. [`parse`] takes the file's bytes, the files
//! that it names, and what is known of the machine; all mistakes are told at once, each with its place and a hint.

mod action;
mod ast;
mod grammar;
mod input;
mod machine;
mod model;
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
pub use wavetank_plan::Network as Subnet;
