//! Limits on the amount of data that a peer may send.

/// Limits on the size of one message. Reading ends with a fault when a limit is exceeded, so memory
/// use stays bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one head: start line, field lines and the empty line. 64 KiB.
    pub head_bytes_max: usize,
    /// Field lines of one head. 256.
    pub headers_max: usize,
    /// Bytes of one body without chunk framing. No limit.
    pub body_bytes_max: u64,
    /// Interim (1xx) responses before one final response. 16.
    pub interim_max: u32,
    /// Bytes of the extensions of one chunk. 4 KiB.
    pub chunk_extension_bytes_max: usize,
    /// Bytes of the trailer section. 16 KiB.
    pub trailer_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head_bytes_max: 64 * 1024,
            headers_max: 256,
            body_bytes_max: u64::MAX,
            interim_max: 16,
            chunk_extension_bytes_max: 4 * 1024,
            trailer_bytes_max: 16 * 1024,
        }
    }
}

/// The limits as a reader keeps them: half the size, because a run may hold millions of readers.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_field_names, reason = "named like the limits they hold")]
pub(crate) struct Packed {
    pub(crate) body_bytes_max: u64,
    pub(crate) head_bytes_max: u32,
    pub(crate) chunk_extension_bytes_max: u32,
    pub(crate) trailer_bytes_max: u32,
    pub(crate) headers_max: u16,
    pub(crate) interim_max: u16,
}

impl From<Limits> for Packed {
    /// Values above what a field can hold become its maximum, which no peer should need.
    fn from(limits: Limits) -> Self {
        Self {
            body_bytes_max: limits.body_bytes_max,
            head_bytes_max: clip_u32(limits.head_bytes_max),
            chunk_extension_bytes_max: clip_u32(limits.chunk_extension_bytes_max),
            trailer_bytes_max: clip_u32(limits.trailer_bytes_max),
            headers_max: u16::try_from(limits.headers_max).unwrap_or(u16::MAX),
            interim_max: u16::try_from(limits.interim_max).unwrap_or(u16::MAX),
        }
    }
}

/// Clips to one below the maximum, so that "one more than allowed" can be represented as well.
fn clip_u32(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX - 1).min(u32::MAX - 1)
}
