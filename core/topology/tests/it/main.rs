//! All integration tests of this crate in one program, so that one link serves them all.

mod actions;
mod examples;
mod labs;
mod mistakes;
#[path = "../../../grammar/tests/it/common/mutation.rs"]
mod mutation;
mod mutations;
mod pools;
mod render;
mod routing;
mod schema;
mod support;
