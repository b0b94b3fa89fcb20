//! Header blocks of HTTP/2 and HTTP/3, as fields.

use crate::h2::hpack::HpackError;

/// Decodes header blocks.
pub(crate) trait FieldDecoder {
    /// Passes the name and value of every field in `block` to `field`.
    ///
    /// # Errors
    /// If the block is invalid. Fields before the fault were passed.
    fn decode(&mut self, block: &[u8], field: impl FnMut(&[u8], &[u8])) -> Result<(), HpackError>;
}

/// Encodes header blocks.
pub(crate) trait FieldEncoder {
    /// Begins a block.
    fn begin(&mut self, out: &mut Vec<u8>);

    /// Appends one field. The name is in lower case.
    fn field(&mut self, out: &mut Vec<u8>, name: &[u8], value: &[u8]);
}
