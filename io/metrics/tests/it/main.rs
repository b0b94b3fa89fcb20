//! All integration tests of this crate in one program, so that they are linked only once.
#![cfg(target_os = "linux")]

mod bad_receivers;
mod builder;
mod encodings;
mod escaping;
mod exchanges;
mod specs;
mod support;
