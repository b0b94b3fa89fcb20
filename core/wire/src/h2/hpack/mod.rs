//! HPACK, the compression of header fields (RFC 7541).

mod decoder;
mod dynamic_table;
mod encoder;
mod huffman;
mod integer;
mod static_table;

pub(crate) use decoder::Decoder;
pub(crate) use encoder::Encoder;

/// A header block that cannot be decoded. The connection is of no further use, because both ends no
/// longer agree on the dynamic table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HpackError {
    /// The block ends inside a field.
    Truncated,
    /// An integer is larger than any limit here.
    IntegerTooLarge,
    /// An index that no table has.
    BadIndex,
    /// A Huffman code that is not valid.
    Huffman,
    /// A change of the table size that is too large, or that is not at the start of the block.
    BadSizeUpdate,
}

#[cfg(test)]
mod tests;
