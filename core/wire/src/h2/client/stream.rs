//! The state of a client's streams.

use super::grpc::GrpcResponse;

/// One request in flight.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each flag is independent")]
pub(super) struct Stream<T> {
    pub(super) id: u32,
    pub(super) tag: T,
    pub(super) send_window: i64,
    pub(super) receive_window: i64,
    /// The part of the body that flow control holds back.
    pub(super) unsent: Option<UnsentBody>,
    /// Our side stays open after the bytes that were given so far: it carries another protocol.
    pub(super) stays_open: bool,
    /// The response has no body, because the request is HEAD.
    pub(super) is_head: bool,
    /// Set if the request is a gRPC call.
    pub(super) grpc: Option<GrpcResponse>,
    /// The caller wants the fields of the response.
    pub(super) wants_fields: bool,
    /// The head of the final response has arrived.
    pub(super) has_head: bool,
    /// Any part of a response has arrived.
    pub(super) has_begun: bool,
    pub(super) status: u16,
    pub(super) interims: u32,
    pub(super) head_bytes: u32,
    pub(super) content_length: Option<u64>,
    pub(super) body_bytes: u64,
}

/// A body that was not sent in whole.
#[derive(Debug)]
pub(super) struct UnsentBody {
    pub(super) bytes: Vec<u8>,
    pub(super) sent: usize,
}

impl UnsentBody {
    /// Takes back the memory of bytes that have been sent.
    pub(super) fn trim(&mut self) {
        if self.sent > self.bytes.len() / 2 {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
    }
}

impl<T> Stream<T> {
    pub(super) const fn new(id: u32, tag: T, [send_window, receive_window]: [i64; 2], is_head: bool) -> Self {
        Self {
            id,
            tag,
            send_window,
            receive_window,
            unsent: None,
            stays_open: false,
            is_head,
            grpc: None,
            wants_fields: false,
            has_head: false,
            has_begun: false,
            status: 0,
            interims: 0,
            head_bytes: 0,
            content_length: None,
            body_bytes: 0,
        }
    }

    /// Whether the response cannot have a body.
    pub(super) const fn is_bodiless(&self) -> bool {
        self.is_head || self.status == 204 || self.status == 304
    }
}
