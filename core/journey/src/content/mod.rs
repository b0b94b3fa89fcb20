//! Content codings taken off an answer's body: only where a step looks inside.

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
