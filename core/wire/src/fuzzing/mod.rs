//! Fuzz targets as plain functions, for stable Rust and cargo-fuzz alike.
//!
//! Each reads the same bytes whole, byte by byte and in pieces that the bytes themselves choose, and
//! panics if the readers say different things about them or claim more bytes than they were given.

mod request;
mod response;
mod transcript;

pub use request::request;
pub use response::response;
