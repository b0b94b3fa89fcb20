//! Sending requests, and the rest of their bodies.

use super::super::error::ErrorCode;
use super::super::frame::{self, PAYLOAD_BYTES_MAX, flag, kind};
use super::super::request_text::{RequestText, without_chunks};
use super::grpc::GrpcResponse;
use super::memory::RememberedRequest;
use super::stream::{Stream, UnsentBody};
use super::{Client, Core, RECEIVE_WINDOW, STREAM_ID_MAX};
use crate::grpc::count_frames;

/// A longer request is encoded each time.
const REMEMBERED_BYTES_MAX: usize = 2_048;
/// The most requests that are remembered for one connection.
const REMEMBERED_MAX: usize = 4;

impl<T> Client<T> {
    /// Sends a request, given as HTTP/1 text. There must be [`room`](Self::room) for it. `repeats`:
    /// the same text is likely to be sent again.
    ///
    /// # Errors
    /// Returns the tag if the text is not that of a request.
    pub fn request(&mut self, tag: T, text: &[u8], repeats: bool) -> Result<(), T> {
        let core = &mut self.core;
        if repeats && let Some(at) = core.remembered.iter().position(|known| *known.text == *text) {
            if core.remembered[at].changes == core.encoder.changes() {
                core.send_again(tag, at);
                return Ok(());
            }
            core.remembered.swap_remove(at);
        }
        let Some(request) = RequestText::parse(text) else { return Err(tag) };
        let dechunked;
        let mut body = request.body;
        if request.is_chunked() {
            let Some(data) = without_chunks(body) else { return Err(tag) };
            dechunked = data;
            body = &dechunked;
        }
        let is_remembered = repeats && !request.is_chunked() && text.len() <= REMEMBERED_BYTES_MAX;
        core.send(tag, &request, body, is_remembered.then_some(text));
        Ok(())
    }
}

impl<T> Core<T> {
    fn send(&mut self, tag: T, request: &RequestText<'_>, body: &[u8], remember: Option<&[u8]>) {
        let before = self.encoder.changes();
        let mut block = Vec::with_capacity(128);
        request.encode(&mut self.encoder, self.secure, &mut block, &mut self.scratch);
        frame::push_headers(&mut self.out, self.next_id, &block, body.is_empty());
        let changes = self.encoder.changes();
        let is_head = request.is_head();
        let is_grpc = request.is_grpc();
        if changes == before
            && let Some(text) = remember
        {
            if self.remembered.len() == REMEMBERED_MAX {
                self.remembered.remove(0);
            }
            let body_at = text.len() - body.len();
            let (text, block) = (text.into(), block.into());
            self.remembered.push(RememberedRequest { text, block, is_head, is_grpc, body_at, changes });
        }
        self.open(tag, is_head);
        self.send_body(body, is_grpc);
    }

    /// Sends the remembered request at that place once more.
    fn send_again(&mut self, tag: T, at: usize) {
        let remembered = std::mem::take(&mut self.remembered);
        let known = &remembered[at];
        let body = &known.text[known.body_at..];
        frame::push_headers(&mut self.out, self.next_id, &known.block, body.is_empty());
        self.open(tag, known.is_head);
        self.send_body(body, known.is_grpc);
        self.remembered = remembered;
    }

    /// Sends as much of the last stream's body as the windows allow, and keeps the rest.
    #[inline]
    fn send_body(&mut self, body: &[u8], is_grpc: bool) {
        let at = self.streams.len() - 1;
        if is_grpc {
            // Also without a message: a stream of none.
            self.streams[at].grpc = Some(GrpcResponse::default());
            self.messages.0 += count_frames(body);
        }
        if body.is_empty() {
            return;
        }
        let sent = self.send_data(at, body);
        if sent < body.len() {
            self.streams[at].unsent = Some(UnsentBody { bytes: body[sent..].to_vec(), sent: 0 });
        }
    }

    /// Adds the stream of a request, the headers of which were sent.
    #[inline]
    pub(super) fn open(&mut self, tag: T, is_head: bool) {
        self.streams.push(Stream::new(self.next_id, tag, [self.peer.window, RECEIVE_WINDOW], is_head));
        self.next_id += 2;
        if self.next_id >= STREAM_ID_MAX {
            // Another connection goes on.
            self.parting.get_or_insert(ErrorCode(0));
        }
    }

    /// Sends as much of `body` as the windows allow. The last frame ends the stream, unless it
    /// stays open. Returns how many bytes were sent.
    pub(super) fn send_data(&mut self, at: usize, body: &[u8]) -> usize {
        let Self { streams, out, send_window, .. } = self;
        let stream = &mut streams[at];
        let mut sent = 0;
        while sent < body.len() {
            let window = (*send_window).min(stream.send_window).max(0);
            let length = (body.len() - sent).min(PAYLOAD_BYTES_MAX).min(window as usize);
            if length == 0 {
                break;
            }
            let is_last = sent + length == body.len() && !stream.stays_open;
            let flags = if is_last { flag::END_STREAM } else { 0 };
            frame::push_header(out, length, kind::DATA, flags, stream.id);
            out.extend_from_slice(&body[sent..sent + length]);
            sent += length;
            *send_window -= length as i64;
            stream.send_window -= length as i64;
        }
        if sent > 0 {
            self.idle_frames = 0;
        }
        sent
    }

    /// Continues with bodies that flow control has held back.
    pub(super) fn continue_bodies(&mut self) {
        for at in 0..self.streams.len() {
            if self.send_window <= 0 {
                return;
            }
            let Some(mut body) = self.streams[at].unsent.take() else { continue };
            body.sent += self.send_data(at, &body.bytes[body.sent..]);
            if body.sent < body.bytes.len() {
                if self.streams[at].stays_open {
                    body.trim();
                }
                self.streams[at].unsent = Some(body);
            }
        }
    }

    /// Stops sending the body of a stream that has its response. The peer must know that no more
    /// will come.
    pub(super) fn abandon_body(&mut self, stream: &Stream<T>) {
        if stream.unsent.is_none() && stream.stays_open {
            frame::push_header(&mut self.out, 0, kind::DATA, flag::END_STREAM, stream.id);
        } else if stream.unsent.is_some() {
            frame::push_reset(&mut self.out, stream.id, ErrorCode::CANCEL);
            self.reset.insert(stream.id);
        }
    }
}
