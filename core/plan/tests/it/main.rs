//! All integration tests of this crate in one program, so that one link serves them all.

mod addresses;
mod any_text;
mod conditions;
mod engines;
mod load_change;
mod quantity;
mod resolve;
mod serving;
mod shape;
mod shares;
mod tls;
