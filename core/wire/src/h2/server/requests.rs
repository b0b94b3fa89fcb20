//! Header blocks of requests.

use super::super::error::{ErrorCode, Fault};
use super::super::frame::{FrameHeader, flag};
use super::super::header_block::HeaderBlock;
use super::super::response_fields::{decimal, is_valid};
use super::memory::{LastRequest, RequestFields};
use super::{Core, RECEIVE_WINDOW, STREAMS_MAX, ServerSink, Stream};
use crate::fields::FieldDecoder;
use crate::h1::{Limits, Version};

/// A longer block is decoded each time.
const REMEMBERED_BYTES_MAX: usize = 2_048;

impl Core {
    pub(super) fn take_headers(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        sink: &mut impl ServerSink,
    ) -> Result<(), Fault> {
        let fragment = HeaderBlock::fragment(header, payload)?;
        if header.has(flag::END_HEADERS) {
            return self.take_block(header.stream, header.has(flag::END_STREAM), fragment, sink);
        }
        self.block = Some(HeaderBlock::begin(header, fragment));
        Ok(())
    }

    pub(super) fn take_continuation(
        &mut self,
        header: FrameHeader,
        payload: &[u8],
        sink: &mut impl ServerSink,
    ) -> Result<(), Fault> {
        match HeaderBlock::continue_in(&mut self.block, header, payload)? {
            Some(block) => self.take_block(block.stream, block.end_stream, &block.bytes, sink),
            None => Ok(()),
        }
    }

    fn take_block(
        &mut self,
        id: u32,
        end_stream: bool,
        block: &[u8],
        sink: &mut impl ServerSink,
    ) -> Result<(), Fault> {
        if id <= self.last_id || id.is_multiple_of(2) {
            return self.take_trailers(id, end_stream, block, sink);
        }
        let last = &mut self.last_request;
        if last.changes != self.decoder.changes() || block.is_empty() || last.block != block {
            let before = self.decoder.changes();
            last.block.clear();
            decode_request(&mut self.decoder, block, &self.limits, Version::Http2, last)?;
            last.changes = self.decoder.changes();
            if before == last.changes && block.len() <= REMEMBERED_BYTES_MAX {
                last.block.extend_from_slice(block);
            }
        }
        self.last_id = id;
        let fields = self.last_request.fields;
        if self.is_parting || self.streams.len() >= STREAMS_MAX {
            self.reset_id(id, ErrorCode::REFUSED_STREAM);
            return self.check_flood();
        }
        if fields.malformed || fields.too_large {
            let code =
                if fields.malformed { ErrorCode::PROTOCOL_ERROR } else { ErrorCode::ENHANCE_YOUR_CALM };
            self.reset_id(id, code);
            sink.rejected(id);
            return self.check_flood();
        }
        let head = self.last_request.head(Version::Http2);
        let is_head = head.method == b"HEAD";
        sink.head(id, &head);
        self.streams.push(Stream {
            id,
            send_window: self.peer.window,
            receive_window: RECEIVE_WINDOW,
            is_head,
            is_complete: false,
            content_length: fields.content_length,
            body_bytes: 0,
            response: None,
        });
        if end_stream {
            self.complete(self.streams.len() - 1, sink);
        }
        self.check_flood()
    }

    /// Handles a header block on a stream that was opened before.
    fn take_trailers(
        &mut self,
        id: u32,
        end_stream: bool,
        block: &[u8],
        sink: &mut impl ServerSink,
    ) -> Result<(), Fault> {
        let mut has_pseudo = false;
        self.last_request.block.clear();
        self.decoder.decode(block, |name, _| has_pseudo |= name.starts_with(b":"))?;
        if id.is_multiple_of(2) {
            return Err(Fault::UnknownStream);
        }
        let Some(at) = self.find(id) else {
            return if self.reset.may_contain(id) { Ok(()) } else { Err(Fault::StreamClosed) };
        };
        if self.streams[at].is_complete {
            self.reject(at, ErrorCode::STREAM_CLOSED, sink);
        } else if has_pseudo || !end_stream {
            self.reject(at, ErrorCode::PROTOCOL_ERROR, sink);
        } else {
            self.complete(at, sink);
        }
        self.check_flood()
    }
}

/// The pseudo-fields of a request.
const PSEUDO: [&[u8]; 5] = [b"method", b"scheme", b"path", b"authority", b"protocol"];

/// Writes a request for another protocol as the upgrade that it is in HTTP/1.1. Returns whether it
/// may be there.
fn write_upgrade(protocol: &[u8], version: Version, method: &mut Vec<u8>, lines: &mut Vec<u8>) -> bool {
    // We have not said that HTTP/3 may have it (RFC 9220 §3).
    let is_allowed = method == b"CONNECT" && version != Version::Http3;
    if protocol.eq_ignore_ascii_case(b"websocket") {
        *method = b"GET".to_vec();
        lines.extend_from_slice(b"upgrade: websocket\r\nconnection: upgrade\r\n");
    }
    is_allowed
}

impl RequestFields {
    /// Notes a content length; `None`: the field is no number.
    fn set_content_length(&mut self, length: Option<u64>) {
        self.malformed |= length.is_none() || self.content_length.is_some_and(|own| Some(own) != length);
        self.content_length = length;
    }
}

/// Adds one of the fields into which a client may cut its cookies (RFC 9113 §8.2.3).
fn join_cookie(cookie: &mut Vec<u8>, value: &[u8]) {
    cookie.extend_from_slice(if cookie.is_empty() { b"cookie: " } else { b"; " });
    cookie.extend_from_slice(value);
}

/// Ends the head of a request with its cookies.
fn end_head(text: &mut Vec<u8>, cookie: &[u8]) {
    if !cookie.is_empty() {
        text.extend_from_slice(cookie);
        text.extend_from_slice(b"\r\n");
    }
    text.extend_from_slice(b"\r\n");
}

/// Decodes `block` of a request of this version into HTTP/1 text.
pub(crate) fn decode_request(
    decoder: &mut impl FieldDecoder,
    block: &[u8],
    limits: &Limits,
    version: Version,
    last: &mut LastRequest,
) -> Result<(), Fault> {
    let LastRequest { text, fields, .. } = last;
    *fields = RequestFields::default();
    let (mut pseudo, mut lines) = (<[Option<Vec<u8>>; 5]>::default(), Vec::with_capacity(256));
    let (mut count, mut bytes, mut regular, mut has_host, mut cookie) = (0, 0, false, false, Vec::new());
    decoder.decode(block, |name, value| {
        count += 1;
        bytes += name.len() + value.len() + 4;
        if count > limits.headers_max || bytes > limits.head_bytes_max {
            fields.too_large = true;
            return;
        }
        if let Some(known) = name.strip_prefix(b":") {
            let place = PSEUDO.iter().position(|name| *name == known);
            let free = place.filter(|&place| pseudo[place].is_none() && !regular);
            match free {
                Some(place) if !value.iter().any(|&byte| byte <= b' ' || byte == 0x7f) => {
                    pseudo[place] = Some(value.to_vec());
                }
                _ => fields.malformed = true,
            }
            return;
        }
        regular = true;
        has_host |= name == b"host";
        let bad_te = name == b"te" && value != b"trailers";
        if bad_te || !is_valid(name, value) {
            fields.malformed = true;
        } else if name == b"content-length" {
            fields.set_content_length(decimal(value));
        } else if name == b"expect" && value.eq_ignore_ascii_case(b"100-continue") {
            fields.expects_continue = true;
        } else if name == b"cookie" {
            return join_cookie(&mut cookie, value);
        }
        for piece in [name, b": ", value, b"\r\n"] {
            lines.extend_from_slice(piece);
        }
    })?;
    let [method, scheme, path, authority, protocol] = pseudo;
    text.clear();
    let (Some(mut method), Some(_), Some(path)) = (method, scheme, path) else {
        fields.malformed = true;
        return Ok(());
    };
    fields.malformed |= path.is_empty() || method.is_empty();
    let is_allowed = |protocol: Vec<u8>| write_upgrade(&protocol, version, &mut method, &mut lines);
    fields.malformed |= !protocol.is_none_or(is_allowed);
    (fields.method_len, fields.target_len) = (method.len(), path.len());
    let line_end: &[u8] = if version == Version::Http3 { b" HTTP/3\r\n" } else { b" HTTP/2\r\n" };
    for piece in [&method[..], b" ", &path, line_end] {
        text.extend_from_slice(piece);
    }
    fields.fields_at = text.len();
    if let (Some(authority), false) = (authority, has_host) {
        for piece in [b"host: ", &authority[..], b"\r\n"] {
            text.extend_from_slice(piece);
        }
    }
    text.extend_from_slice(&lines);
    end_head(text, &cookie);
    Ok(())
}
