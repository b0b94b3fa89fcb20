//! Sending responses, which are written as HTTP/1 text.

use memchr::memmem;

use super::super::qpack::Encoder;
use super::super::records::{self, RecordKind};
use super::super::{frame, push_frame_header};
use super::Server;
use crate::h2::ErrorCode;
use crate::h2::server::{ResponseBody, encode_head, push_fields};

/// No more is written at a time. The rest follows when this was sent.
const OUT_BYTES_MAX: usize = 256 * 1024;
/// The most bytes of one response that are written at a time.
const BODY_BYTES_MAX: usize = 64 * 1024;

impl Server {
    /// Sends a response, given as the text of HTTP/1, followed by `filler_left` bytes made of
    /// repetitions of `filler`. It does nothing for a stream that was cancelled.
    ///
    /// # Panics
    /// If `text` is not a response, or if more bytes follow and `filler` is empty.
    pub fn respond(&mut self, stream: u32, text: &[u8], filler: &'static [u8], filler_left: u64) {
        assert!(filler_left == 0 || !filler.is_empty(), "a body needs bytes");
        self.begin_response(stream, text, |bytes| ResponseBody {
            bytes,
            sent: 0,
            filler,
            filler_left,
            trailers: Vec::new(),
            stays_open: false,
        });
    }

    /// Sends a response with a body, given as the text of HTTP/1, followed by `trailers`, which are
    /// field lines. It does nothing for a stream that was cancelled.
    ///
    /// # Panics
    /// If `text` is not a response.
    pub fn respond_with_trailers(&mut self, stream: u32, text: &[u8], trailers: Vec<u8>) {
        let body =
            |bytes| ResponseBody { bytes, sent: 0, filler: &[], filler_left: 0, trailers, stays_open: false };
        self.begin_response(stream, text, body);
    }

    /// Sends an interim response `100 Continue`.
    pub fn respond_continue(&mut self, stream: u32) {
        if self.find(stream).is_some() {
            self.push_head(u64::from(stream), b"HTTP/1.1 100 Continue\r\n\r\n");
        }
    }

    fn find(&self, stream: u32) -> Option<usize> {
        self.streams.binary_search_by_key(&u64::from(stream), |own| own.id).ok()
    }

    fn begin_response(&mut self, stream: u32, text: &[u8], body: impl FnOnce(Vec<u8>) -> ResponseBody) {
        let Some(at) = self.find(stream) else { return };
        let head_len = memmem::find(text, b"\r\n\r\n").expect("a response has a head") + 4;
        let (head, bytes) = text.split_at(head_len);
        self.push_head(u64::from(stream), head);
        self.streams[at].response = Some(body(bytes.to_vec()));
        self.continue_body(at);
    }

    fn push_head(&mut self, id: u64, head: &[u8]) {
        let mut block = Vec::with_capacity(128);
        encode_head(&mut Encoder, head, &mut block, &mut self.scratch);
        self.push_block(id, RecordKind::Data, &block);
    }

    fn push_block(&mut self, id: u64, kind: RecordKind, block: &[u8]) {
        let place = records::begin(&mut self.out, id, kind);
        push_frame_header(&mut self.out, frame::HEADERS, block.len());
        self.out.extend_from_slice(block);
        records::finish(&mut self.out, place);
    }

    /// Continues with bodies that were held back, except those of streams for which `is_blocked`
    /// returns true. Returns whether more could be sent after [`out`](Server::out).
    pub fn continue_bodies(&mut self, is_blocked: impl Fn(u64) -> bool) -> bool {
        let (mut at, mut has_more) = (0, false);
        while let Some(stream) = self.streams.get(at) {
            if stream.response.is_none() || is_blocked(stream.id) {
                at += 1;
                continue;
            }
            if self.out.len() >= OUT_BYTES_MAX {
                return true;
            }
            let goes_on = self.continue_body(at);
            has_more |= goes_on;
            at += usize::from(goes_on);
        }
        has_more
    }

    /// Sends the next bytes of a body, as far as the limit of the buffer allows. They are few,
    /// because the client may not read this stream. Returns whether there are more.
    fn continue_body(&mut self, at: usize) -> bool {
        let id = self.streams[at].id;
        let mut room = BODY_BYTES_MAX;
        while room > 0 && self.out.len() < OUT_BYTES_MAX {
            let Some(body) = &mut self.streams[at].response else { return false };
            let piece = body.next_piece(room);
            let (is_filler, from, length) = (piece.is_filler, piece.from, piece.length);
            let is_last = body.is_sent();
            let trailers = if is_last { std::mem::take(&mut body.trailers) } else { Vec::new() };
            let kind = if is_last && trailers.is_empty() { RecordKind::End } else { RecordKind::Data };
            let place = records::begin(&mut self.out, id, kind);
            if length > 0 {
                push_frame_header(&mut self.out, frame::DATA, length);
                let source = if is_filler { body.filler } else { &body.bytes[from..] };
                self.out.extend_from_slice(&source[..length]);
            }
            records::finish(&mut self.out, place);
            room -= length;
            if !is_last {
                continue;
            }
            if !trailers.is_empty() {
                let mut block = vec![0, 0];
                push_fields(&mut Encoder, &trailers, &mut block, &mut self.scratch);
                self.push_block(id, RecordKind::End, &block);
            }
            let stream = self.streams.remove(at);
            if !stream.is_complete {
                // The rest of the request is not needed (RFC 9114 §4.1).
                let code = u64::from(ErrorCode::HTTP3_NO_ERROR.0);
                records::push_code(&mut self.out, id, RecordKind::Stop, code);
            }
            return false;
        }
        true
    }
}
