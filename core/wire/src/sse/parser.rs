//! [`EventParser`]: lines to events.

use memchr::memchr2;

use super::error::Fault;
use crate::ws::{MessageKind, MessageSink};

/// A longer id is ignored, because it is kept as long as its stream.
const ID_BYTES_MAX: usize = 1 << 10;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Parses the lines of an event stream.
#[derive(Debug, Default)]
pub(super) struct EventParser {
    /// The line that is incomplete.
    line: Vec<u8>,
    /// The data of the event that is incomplete, each line with an LF.
    data: Vec<u8>,
    /// Its type.
    kind: Vec<u8>,
    /// The last id of the stream.
    pub(super) id: Vec<u8>,
    /// The id of the event that is not complete. An event that is cut must come again.
    next_id: Option<Vec<u8>>,
    /// The last byte was a CR, so that an LF belongs to it.
    after_cr: bool,
    /// A line of the stream was read.
    has_begun: bool,
    /// The sink knows that the event has begun.
    is_announced: bool,
}

impl EventParser {
    /// Creates the parser of a stream that is between two events, with the last `id`.
    pub(super) fn resume(id: Vec<u8>) -> Self {
        Self { id, has_begun: true, ..Self::default() }
    }

    /// Whether it is between two events.
    pub(super) const fn is_idle(&self) -> bool {
        self.line.is_empty()
            && self.is_between_events()
            && !self.is_announced
            && !self.after_cr
            && self.has_begun
    }

    const fn is_between_events(&self) -> bool {
        self.data.is_empty() && self.kind.is_empty()
    }

    /// Reads a piece of the stream. An event may have `most` bytes.
    pub(super) fn read(
        &mut self,
        input: &[u8],
        most: usize,
        sink: &mut impl MessageSink,
    ) -> Result<(), Fault> {
        let mut rest = input;
        while let Some((&first, after)) = rest.split_first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                rest = after;
                continue;
            }
            if self.line.is_empty() && self.is_between_events() && !self.is_announced && first != b':' {
                self.is_announced = true;
                sink.begin(MessageKind::Text);
            }
            let end = memchr2(b'\r', b'\n', rest);
            if self.bytes() + end.unwrap_or(rest.len()) > most {
                return Err(Fault::EventTooLarge);
            }
            let Some(end) = end else {
                self.line.extend_from_slice(rest);
                return Ok(());
            };
            self.after_cr = rest[end] == b'\r';
            if self.line.is_empty() {
                self.take_line(&rest[..end], sink);
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(&rest[..end]);
                self.take_line(&line, sink);
                line.clear();
                self.line = line;
            }
            rest = &rest[end + 1..];
        }
        Ok(())
    }

    /// The bytes that are kept of the event.
    const fn bytes(&self) -> usize {
        self.line.len() + self.data.len() + self.kind.len()
    }

    fn take_line(&mut self, line: &[u8], sink: &mut impl MessageSink) {
        let has_mark = !std::mem::replace(&mut self.has_begun, true) && line.starts_with(BYTE_ORDER_MARK);
        let line = if has_mark { &line[BYTE_ORDER_MARK.len()..] } else { line };
        if line.is_empty() {
            return self.dispatch(sink);
        }
        let (name, value) = match line.iter().position(|&byte| byte == b':') {
            Some(colon) => {
                (&line[..colon], line[colon + 1..].strip_prefix(b" ").unwrap_or(&line[colon + 1..]))
            }
            None => (line, &b""[..]),
        };
        match name {
            b"data" => {
                self.data.extend_from_slice(value);
                self.data.push(b'\n');
            }
            b"event" => {
                self.kind.clear();
                self.kind.extend_from_slice(value);
            }
            b"id" if !value.contains(&0) && value.len() <= ID_BYTES_MAX => {
                self.next_id = Some(value.to_vec());
            }
            _ => {}
        }
    }

    /// Passes on the event that is complete.
    fn dispatch(&mut self, sink: &mut impl MessageSink) {
        self.is_announced = false;
        if let Some(id) = self.next_id.take() {
            self.id = id;
        }
        if let Some((_, data)) = self.data.split_last() {
            let kind: &[u8] = if self.kind.is_empty() { b"message" } else { &self.kind };
            let mut fields = Vec::with_capacity(kind.len() + self.id.len() + 18);
            for part in [b"event: ", kind, b"\r\nid: ", &self.id, b"\r\n\r\n"] {
                fields.extend_from_slice(part);
            }
            sink.fields(&fields);
            if !data.is_empty() {
                sink.piece(data);
            }
            sink.end(data.len() as u64);
        }
        self.data.clear();
        self.kind.clear();
    }
}
