//! All integration tests of this crate in one program, so that one link serves them all.

#[path = "../../../measure/tests/it/common/mod.rs"]
#[allow(dead_code, reason = "the tests of core/measure use the rest")]
mod common;
mod contract;
