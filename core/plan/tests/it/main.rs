//! All integration tests of this crate in one program, so that one link serves them all.

mod addresses;
mod any_text;
mod conditions;
mod load_change;
mod quantity;
mod serving;
mod shape;
