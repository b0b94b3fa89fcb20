//! Faults of header blocks.

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
