//! All integration tests of this crate in one program, so that one link serves them all.

mod alongside;
mod parse;
