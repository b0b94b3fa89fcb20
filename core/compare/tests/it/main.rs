//! All integration tests of this crate in one program, so that one link serves them all.

#[path = "support/simulated.rs"]
mod simulated;
mod simulation;
