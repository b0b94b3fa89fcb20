//! Removes content codings from a response body. This is done only if a step inspects the body.

mod brotli;
mod coding;
mod decoder;
mod inflate;
mod plain;
mod sink;
mod zstd;

pub use coding::Coding;
pub use decoder::{ContentFault, Decoder};
pub use plain::{PLAIN_BYTES_MAX, decode_body};
