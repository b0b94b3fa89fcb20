//! What a client remembers of earlier messages.

use super::super::response_fields::GrpcFields;

/// The last block that changed no table, and what it says. The same bytes mean the same as long as
/// the decoder's table is the same.
#[derive(Debug, Default)]
pub(super) struct LastBlock {
    pub(super) bytes: Vec<u8>,
    pub(super) changes: u64,
    pub(super) status: u16,
    pub(super) content_length: Option<u64>,
    pub(super) grpc: GrpcFields,
}

/// A request and its header block. The same text has the same block as long as the
/// encoder's table is the same.
#[derive(Debug)]
pub(super) struct RememberedRequest {
    pub(super) text: Box<[u8]>,
    pub(super) block: Box<[u8]>,
    pub(super) is_head: bool,
    /// It is a gRPC call.
    pub(super) is_grpc: bool,
    /// Where the body is in `text`.
    pub(super) body_at: usize,
    pub(super) changes: u64,
}
