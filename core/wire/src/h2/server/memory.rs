//! What a server remembers of earlier messages, and of those that are not complete.

/// A header block that continues in further frames.
#[derive(Debug)]
pub(super) struct BlockInProgress {
    pub(super) stream: u32,
    pub(super) end_stream: bool,
    pub(super) bytes: Vec<u8>,
    pub(super) frames: u32,
}

/// The last request's header block, and what it says.
#[derive(Debug, Default)]
pub(super) struct LastRequest {
    /// The block, if the same bytes mean the same as long as the decoder's table does not change.
    pub(super) block: Vec<u8>,
    pub(super) changes: u64,
    /// The request in HTTP/1 text.
    pub(super) text: Vec<u8>,
    pub(super) fields: RequestFields,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RequestFields {
    pub(super) method_len: usize,
    pub(super) target_len: usize,
    pub(super) fields_at: usize,
    pub(super) content_length: Option<u64>,
    pub(super) expects_continue: bool,
    /// A rule of RFC 9113 §8 is broken.
    pub(super) malformed: bool,
    /// The fields are larger or more than the limits allow.
    pub(super) too_large: bool,
}

/// The head of a response and its header block.
#[derive(Debug)]
pub(super) struct RememberedResponse {
    pub(super) head: Vec<u8>,
    pub(super) block: Vec<u8>,
    pub(super) changes: u64,
}

/// The body of a response: bytes, followed by repetitions of a filler.
#[derive(Debug)]
pub(super) struct ResponseBody {
    pub(super) bytes: Vec<u8>,
    pub(super) sent: usize,
    pub(super) filler: &'static [u8],
    pub(super) filler_left: u64,
    /// Field lines to be sent after it; empty for none.
    pub(super) trailers: Vec<u8>,
}
