//! HPACK, the compression of header fields (RFC 7541).

mod decoder;
mod dynamic_table;
mod encoder;
mod error;
pub(crate) mod huffman;
pub(crate) mod integer;
mod static_table;

pub(crate) use decoder::Decoder;
pub(crate) use encoder::Encoder;
pub(crate) use error::HpackError;

#[cfg(test)]
mod tests;
