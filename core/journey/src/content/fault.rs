//! [`ContentFault`]: the reason why a body could not be decoded.

/// The reason why a body could not be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentFault {
    /// The bytes do not begin like this coding.
    NotCoded,
    /// The bytes are not valid in this coding.
    Broken,
    /// The body ended too early.
    Truncated,
    /// The decoded body does not match its checksum.
    Checksum,
    /// The decoded body is longer than the limit.
    TooLarge,
}
