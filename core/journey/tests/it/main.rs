//! All integration tests of this crate in one program, so that one link serves them all.

mod content;
mod cookies;
mod course;
mod extract;
mod fuzzing;
mod given;
mod rows;
mod sessions;
