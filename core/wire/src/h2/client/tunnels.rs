//! Streams that carry another protocol in both directions (RFC 8441), and their bytes.

use super::super::error::ErrorCode;
use super::super::frame::{self, flag, kind};
use super::super::request_text::RequestText;
use super::Client;
use super::grpc::GrpcResponse;
use super::stream::UnsentBody;

impl<T> Client<T> {
    /// Whether the server accepts streams for other protocols.
    pub(crate) const fn accepts_connect(&self) -> bool {
        self.core.peer.connect_protocol
    }

    /// The number of streams that the server accepts at a time.
    pub(crate) const fn streams_max(&self) -> u32 {
        self.core.peer.streams_max
    }

    /// The number of the next stream.
    pub(crate) const fn next_id(&self) -> u32 {
        self.core.next_id
    }

    /// Opens a stream for `protocol` with a request, the body of which is not sent. There must be
    /// [`room`](Self::room) for it.
    pub(crate) fn connect(&mut self, tag: T, request: &RequestText<'_>, protocol: &[u8]) {
        let core = &mut self.core;
        let mut block = Vec::with_capacity(128);
        request.encode_connect(protocol, &mut core.encoder, core.secure, &mut block, &mut core.scratch);
        frame::push_headers(&mut core.out, core.next_id, &block, false);
        core.open(tag, false);
        let at = core.streams.len() - 1;
        core.streams[at].stays_open = true;
    }

    /// Opens a stream for a gRPC call with a request, the body of which is not sent. There must be
    /// [`room`](Self::room) for it.
    pub(crate) fn open_call(&mut self, tag: T, request: &RequestText<'_>) {
        let core = &mut self.core;
        let mut block = Vec::with_capacity(128);
        request.encode(&mut core.encoder, core.secure, &mut block, &mut core.scratch);
        frame::push_headers(&mut core.out, core.next_id, &block, false);
        core.open(tag, false);
        let at = core.streams.len() - 1;
        core.streams[at].stays_open = true;
        core.streams[at].grpc = Some(GrpcResponse::default());
    }

    /// Whether a stream in use is a gRPC call.
    pub(crate) fn is_call(&mut self, id: u32) -> bool {
        self.core.find(id).is_some_and(|at| self.core.streams[at].grpc.is_some())
    }

    /// Sends bytes on a stream that was opened for another protocol. Those that flow control holds
    /// back follow later. It does nothing for a stream that has ended.
    pub(crate) fn send_on(&mut self, id: u32, bytes: &[u8]) {
        let core = &mut self.core;
        let Some(at) = core.find(id).filter(|&at| core.streams[at].stays_open) else { return };
        core.idle_frames = 0;
        if let Some(unsent) = &mut core.streams[at].unsent {
            return unsent.bytes.extend_from_slice(bytes);
        }
        let sent = core.send_data(at, bytes);
        if sent < bytes.len() {
            core.streams[at].unsent = Some(UnsentBody { bytes: bytes[sent..].to_vec(), sent: 0 });
        }
    }

    /// The number of bytes on a stream that flow control holds back.
    pub(crate) fn unsent(&mut self, id: u32) -> usize {
        let Some(at) = self.core.find(id) else { return 0 };
        self.core.streams[at].unsent.as_ref().map_or(0, |unsent| unsent.bytes.len() - unsent.sent)
    }

    /// Ends our side of a stream after everything that was sent on it. It stays in use until the
    /// server ends its side.
    pub(crate) fn finish(&mut self, id: u32) {
        let core = &mut self.core;
        let Some(at) = core.find(id) else { return };
        if !std::mem::take(&mut core.streams[at].stays_open) {
            return self.reset(id);
        }
        if core.streams[at].unsent.is_none() {
            frame::push_header(&mut core.out, 0, kind::DATA, flag::END_STREAM, id);
        }
    }

    /// Ends our side of a gRPC call after everything that was sent on it, unless that was done
    /// before.
    pub(crate) fn finish_call(&mut self, id: u32) {
        if self.core.find(id).is_some_and(|at| self.core.streams[at].stays_open) {
            self.finish(id);
        }
    }

    /// Ends a stream immediately, in both directions.
    pub(crate) fn reset(&mut self, id: u32) {
        if let Some(at) = self.core.find(id) {
            self.core.reset_stream(at, ErrorCode::CANCEL);
        }
    }

    /// Announces that the connection will be closed.
    pub(crate) fn part(&mut self) {
        frame::push_goaway(&mut self.core.out, 0, ErrorCode(0));
    }
}
