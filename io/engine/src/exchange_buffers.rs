//! [`ExchangeBuffers`]: the requests that sessions send and the kept parts of their responses, by
//! exchange.
//!
//! A run of one URL has none. The memory of an exchange is reused by the next exchange with the
//! same index.

use wavetank_journey::is_html_media_type;
use wavetank_units::Nanos;
use wavetank_wire::h1::{HeadCache, ParseError, Progress, ResponseHead, ResponseReader, ResponseSink};

use crate::request_flags::RequestFlags;
use crate::slab::Id;

/// An unused buffer keeps at most this much memory.
const IDLE_BYTES_MAX: usize = 64 << 10;
/// The maximum size of a body that is evaluated, whatever `body_max` allows.
pub(crate) const BODY_BYTES_MAX: usize = 16 << 20;
/// The maximum size of all bodies that one load thread keeps at a time.
const BODIES_BYTES_MAX: usize = 1 << 30;

/// The buffers of all exchanges in flight.
#[derive(Default)]
pub(crate) struct ExchangeBuffers {
    buffers: Vec<ExchangeBuffer>,
    /// Bytes of all bodies.
    bodies: usize,
}

/// The request of one exchange, and the kept parts of its response.
#[derive(Default)]
pub(crate) struct ExchangeBuffer {
    /// The request; empty if the fixed bytes of the step are sent.
    pub(crate) request: Vec<u8>,
    /// The field lines of the response's head.
    pub(crate) fields: Vec<u8>,
    /// The response's body as received.
    pub(crate) body: Vec<u8>,
    /// The body was too long to be kept.
    pub(crate) overflowed: bool,
    /// When the first byte of a page arrived that waits for its embedded resources.
    pub(crate) page_began: Option<Nanos>,
    /// Whether the body of the current response is kept.
    keeps_body: bool,
    /// The maximum number of bytes to keep.
    room: usize,
    /// The properties of the message that was sent.
    flags: RequestFlags,
}

impl ExchangeBuffers {
    /// Returns the buffer of `exchange`, creating it if it does not exist.
    pub(crate) fn entry(&mut self, exchange: Id) -> &mut ExchangeBuffer {
        let index = exchange.index();
        if self.buffers.len() <= index {
            self.buffers.resize_with(index + 1, ExchangeBuffer::default);
        }
        &mut self.buffers[index]
    }

    /// Whether no buffer was ever written. Then no part of a response is kept either.
    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.buffers.is_empty()
    }

    /// Returns the request of `exchange`, if it does not send the step's fixed bytes.
    #[inline]
    pub(crate) fn request(&self, exchange: Id) -> Option<&[u8]> {
        let buffer = self.buffers.get(exchange.index())?;
        (!buffer.request.is_empty()).then_some(&buffer.request)
    }

    /// Reads `input`, a part of the response to `exchange`, and keeps the required parts.
    #[inline]
    pub(crate) fn read(
        &mut self,
        exchange: Id,
        flags: RequestFlags,
        reader: &mut ResponseReader,
        input: &[u8],
        last: &mut HeadCache,
    ) -> Result<Progress, ParseError> {
        if flags.keeps_answer() {
            let elsewhere = self.bodies - self.entry(exchange).body.len();
            let buffer = self.entry(exchange);
            buffer.flags = flags;
            buffer.room = BODY_BYTES_MAX.min(BODIES_BYTES_MAX.saturating_sub(elsewhere));
            let read = reader.read(input, buffer);
            self.bodies = elsewhere + buffer.body.len();
            read
        } else if flags.keeps_cookies() {
            let buffer = self.entry(exchange);
            buffer.flags = flags;
            reader.read_cookies(input, last, buffer)
        } else {
            reader.read_cached(input, last)
        }
    }

    /// Keeps the required parts of a response's head, which arrived on a stream of its own.
    pub(crate) fn stream_head(&mut self, exchange: Id, flags: RequestFlags, head: &ResponseHead<'_>) {
        let buffer = self.entry(exchange);
        let before = buffer.body.len();
        buffer.flags = flags;
        buffer.head(head);
        self.bodies -= before;
    }

    /// Adds the trailers of that response to its fields.
    pub(crate) fn stream_trailers(&mut self, exchange: Id, lines: &[u8]) {
        self.entry(exchange).trailers(lines);
    }

    /// Starts to keep a message, as far as it is required.
    pub(crate) fn begin_message(&mut self, exchange: Id, flags: RequestFlags) {
        if self.is_empty() {
            return;
        }
        self.reset_response(exchange);
        let buffer = self.entry(exchange);
        buffer.flags = flags;
        buffer.overflowed = false;
        buffer.keeps_body = flags.keeps_body();
    }

    /// Keeps the fields of that message, if they are required.
    pub(crate) fn message_fields(&mut self, exchange: Id, flags: RequestFlags, lines: &[u8]) {
        if !self.is_empty() && flags.keeps_fields() {
            self.entry(exchange).fields.extend_from_slice(lines);
        }
    }

    /// Keeps the head of the response to an upgrade.
    pub(crate) fn upgrade_head(&mut self, exchange: Id, head: &ResponseHead<'_>) {
        if self.is_empty() {
            return;
        }
        self.reset_response(exchange);
        self.entry(exchange).fields.extend_from_slice(head.fields());
    }

    /// Keeps a piece of the body of that response, if it is required.
    pub(crate) fn stream_body(&mut self, exchange: Id, bytes: &[u8]) {
        let elsewhere = self.bodies - self.entry(exchange).body.len();
        let buffer = self.entry(exchange);
        buffer.room = BODY_BYTES_MAX.min(BODIES_BYTES_MAX.saturating_sub(elsewhere));
        buffer.body(bytes);
        self.bodies = elsewhere + buffer.body.len();
    }

    /// The body of that response is too long to be kept.
    pub(crate) fn overflow(&mut self, exchange: Id) {
        let buffer = self.entry(exchange);
        let freed = std::mem::take(&mut buffer.body).len();
        buffer.overflowed = true;
        self.bodies -= freed;
    }

    /// Discards the kept parts of the last response, because one more message is sent for
    /// `exchange`.
    pub(crate) fn reset_response(&mut self, exchange: Id) {
        if let Some(buffer) = self.buffers.get_mut(exchange.index()) {
            self.bodies -= buffer.body.len();
            buffer.fields.clear();
            buffer.body.clear();
        }
    }

    /// Clears the buffer of `exchange`, which is over.
    pub(crate) fn clear(&mut self, exchange: Id) {
        if let Some(buffer) = self.buffers.get_mut(exchange.index()) {
            self.bodies -= buffer.body.len();
            for bytes in [&mut buffer.request, &mut buffer.fields, &mut buffer.body] {
                bytes.clear();
                if bytes.capacity() > IDLE_BYTES_MAX {
                    bytes.shrink_to(IDLE_BYTES_MAX);
                }
            }
            (buffer.overflowed, buffer.page_began) = (false, None);
        }
    }
}

impl ResponseSink for ExchangeBuffer {
    fn head(&mut self, head: &ResponseHead<'_>) {
        self.fields.clear();
        self.body.clear();
        self.overflowed = false;
        self.fields.extend_from_slice(head.fields());
        let is_page = || head.header("content-type").is_some_and(is_html_media_type);
        self.keeps_body = self.flags.keeps_body() || (self.flags.keeps_page() && is_page());
    }

    fn trailers(&mut self, lines: &[u8]) {
        // The empty line at the end of the fields moves behind the trailers.
        let end = self.fields.strip_suffix(b"\r\n").map_or(self.fields.len(), <[u8]>::len);
        self.fields.truncate(end);
        self.fields.extend_from_slice(lines);
    }

    fn body(&mut self, bytes: &[u8]) {
        if self.keeps_body && !self.overflowed {
            if self.body.len() + bytes.len() > self.room {
                self.overflowed = true;
                self.body = Vec::new();
            } else {
                self.body.extend_from_slice(bytes);
            }
        }
    }
}
