//! Sending responses, which are written as HTTP/1 text.

use memchr::{memchr, memmem};

use super::super::error::ErrorCode;
use super::super::frame::{self, PAYLOAD_BYTES_MAX, flag, kind};
use super::memory::{RememberedResponse, ResponseBody};
use super::{Core, Server};
use crate::fields::FieldEncoder;
use crate::h1::Headers;

/// A longer head is encoded each time.
const REMEMBERED_BYTES_MAX: usize = 2_048;
/// No more is written at a time. The rest follows when this was sent.
const OUT_BYTES_MAX: usize = 256 * 1024;

impl Server {
    /// Sends a response, given as the text of HTTP/1, followed by `filler_left` bytes made of
    /// repetitions of `filler`. It does nothing for a stream that was cancelled.
    ///
    /// # Panics
    /// If `text` is not a response, or if more bytes follow and `filler` is empty.
    pub fn respond(&mut self, stream: u32, text: &[u8], filler: &'static [u8], filler_left: u64) {
        assert!(filler_left == 0 || !filler.is_empty(), "a body needs bytes");
        let core = &mut self.core;
        let Some(at) = core.find(stream) else { return };
        core.idle_frames = 0;
        let head_len = memmem::find(text, b"\r\n\r\n").expect("a response has a head") + 4;
        let (head, body) = text.split_at(head_len);
        let end_stream = body.is_empty() && filler_left == 0;
        core.push_head(stream, head, end_stream);
        if end_stream {
            return core.end(at);
        }
        let body = ResponseBody {
            bytes: body.to_vec(),
            sent: 0,
            filler,
            filler_left,
            trailers: Vec::new(),
            stays_open: false,
        };
        core.streams[at].response = Some(body);
        core.continue_body(at);
    }

    /// Sends a response with a body, given as the text of HTTP/1, followed by `trailers`, which are
    /// field lines. It does nothing for a stream that was cancelled.
    ///
    /// # Panics
    /// If `text` is not a response with a body.
    pub fn respond_with_trailers(&mut self, stream: u32, text: &[u8], trailers: Vec<u8>) {
        let core = &mut self.core;
        let Some(at) = core.find(stream) else { return };
        core.idle_frames = 0;
        let head_len = memmem::find(text, b"\r\n\r\n").expect("a response has a head") + 4;
        let (head, body) = text.split_at(head_len);
        assert!(!body.is_empty(), "trailers follow a body");
        core.push_head(stream, head, false);
        let body = ResponseBody {
            bytes: body.to_vec(),
            sent: 0,
            filler: &[],
            filler_left: 0,
            trailers,
            stays_open: false,
        };
        core.streams[at].response = Some(body);
        core.continue_body(at);
    }

    /// Sends an interim response `100 Continue`.
    pub fn respond_continue(&mut self, stream: u32) {
        if self.core.find(stream).is_some() {
            self.core.push_head(stream, b"HTTP/1.1 100 Continue\r\n\r\n", false);
        }
    }

    /// Continues with bodies that flow control or the size of [`out`](Server::out) has held back.
    /// Returns whether more could be sent after `out`.
    pub fn continue_bodies(&mut self) -> bool {
        let mut at = 0;
        while at < self.core.streams.len() {
            if self.core.send_window <= 0 {
                return false;
            }
            if self.core.out.len() >= OUT_BYTES_MAX {
                return true;
            }
            let streams = self.core.streams.len();
            if self.core.streams[at].response.is_some() {
                self.core.continue_body(at);
            }
            at += usize::from(self.core.streams.len() == streams);
        }
        self.core.out.len() >= OUT_BYTES_MAX
    }
}

impl Core {
    pub(super) fn push_head(&mut self, stream: u32, head: &[u8], end_stream: bool) {
        let changes = self.encoder.changes();
        if let Some(known) = &self.remembered
            && known.changes == changes
            && known.head == head
        {
            return frame::push_headers(&mut self.out, stream, &known.block, end_stream);
        }
        let mut block = Vec::with_capacity(128);
        encode_head(&mut self.encoder, head, &mut block, &mut self.scratch);
        frame::push_headers(&mut self.out, stream, &block, end_stream);
        if changes == self.encoder.changes() && head.len() <= REMEMBERED_BYTES_MAX {
            self.remembered = Some(RememberedResponse { head: head.to_vec(), block, changes });
        }
    }

    /// Sends as much of a body as the windows and the limit of the buffer allow.
    pub(super) fn continue_body(&mut self, at: usize) {
        let Self { streams, out, send_window, encoder, scratch, idle_frames, .. } = self;
        let stream = &mut streams[at];
        let Some(body) = &mut stream.response else { return };
        loop {
            let window = (*send_window).min(stream.send_window).max(0) as usize;
            if window == 0 || out.len() >= OUT_BYTES_MAX || (body.stays_open && body.is_sent()) {
                return;
            }
            let piece = body.next_piece(window.min(PAYLOAD_BYTES_MAX));
            let length = piece.length;
            let is_last = body.is_sent() && !body.stays_open;
            let has_trailers = !body.trailers.is_empty();
            let flags = if is_last && !has_trailers { flag::END_STREAM } else { 0 };
            frame::push_header(out, length, kind::DATA, flags, stream.id);
            let source = if piece.is_filler { body.filler } else { &body.bytes[piece.from..] };
            out.extend_from_slice(&source[..length]);
            *send_window -= length as i64;
            stream.send_window -= length as i64;
            *idle_frames = 0;
            if is_last && has_trailers {
                let mut block = Vec::with_capacity(32);
                encoder.begin(&mut block);
                push_fields(encoder, &body.trailers, &mut block, scratch);
                frame::push_headers(out, stream.id, &block, true);
            }
            if is_last {
                return self.end(at);
            }
        }
    }

    /// Ends a stream with a response that is complete.
    fn end(&mut self, at: usize) {
        if self.streams[at].is_complete {
            self.streams.remove(at);
        } else {
            // The rest of the request is not needed (RFC 9113 §8.1).
            self.reset_stream(at, ErrorCode(0));
        }
    }
}

/// Encodes the head of a response.
pub(crate) fn encode_head(
    encoder: &mut impl FieldEncoder,
    head: &[u8],
    block: &mut Vec<u8>,
    lower: &mut Vec<u8>,
) {
    encoder.begin(block);
    encoder.field(block, b":status", head.get(9..12).unwrap_or(b"500"));
    let fields_at = memchr(b'\n', head).map_or(head.len(), |end| end + 1);
    push_fields(encoder, &head[fields_at..], block, lower);
}

/// Encodes field lines. `lower` is a scratch buffer.
pub(crate) fn push_fields(
    encoder: &mut impl FieldEncoder,
    lines: &[u8],
    block: &mut Vec<u8>,
    lower: &mut Vec<u8>,
) {
    for (name, value) in Headers::new(lines) {
        lower.clear();
        lower.extend(name.iter().map(u8::to_ascii_lowercase));
        // RFC 9113 §8.2.2.
        let is_of_http1 = matches!(
            &lower[..],
            b"connection" | b"keep-alive" | b"proxy-connection" | b"transfer-encoding" | b"upgrade"
        );
        if !is_of_http1 {
            encoder.field(block, lower, value);
        }
    }
}
