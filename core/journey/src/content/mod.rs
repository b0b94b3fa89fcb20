//! Removes content codings from a response body. This is done only if a step inspects the body.

mod brotli;
mod coding;
mod decoder;
mod fault;
mod inflate;
mod plain;
mod sink;
mod zstd;

pub use coding::Coding;
pub use decoder::Decoder;
pub use fault::ContentFault;
pub use plain::{PLAIN_BYTES_MAX, decode_body};
