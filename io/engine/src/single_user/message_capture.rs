//! [`MessageCapture`]: receives the answer of one step.

use wavetank_units::Nanos;
use wavetank_wire::grpc::CallEnd;
use wavetank_wire::h1::{ResponseEnd, ResponseHead, ResponseSink};
use wavetank_wire::ws::{ClientSink, CloseCode, MessageKind, MessageSink};

use super::response_capture::ResponseCapture;
use crate::failure::{self, Failure};
use crate::inbox::{Inbox, Message};

/// What a step gets: the end of its answer, or why there is none.
pub(super) type Answered = Result<ResponseEnd, Failure>;

/// The end of an answer with this status and length.
pub(super) const fn end(status: u16, length: u64) -> ResponseEnd {
    ResponseEnd { status, keep_alive: true, close_announced: false, body_bytes: length, head_bytes: 0 }
}

/// Receives the answer; what follows it goes to the inbox.
pub(super) struct MessageCapture<'a, S> {
    pub(super) hearing: &'a mut ResponseCapture,
    pub(super) sink: &'a mut S,
    pub(super) inbox: &'a mut Inbox,
    pub(super) at: Nanos,
    pub(super) is_closing: bool,
    /// What is awaited may time out inside a message, which is then for the next step.
    pub(super) only_waits: bool,
    pub(super) result: Option<Answered>,
}

impl<S> MessageCapture<'_, S> {
    const fn is_awaited(&self) -> bool {
        self.result.is_none() && !self.is_closing
    }
}

impl<S: ResponseSink> MessageSink for MessageCapture<'_, S> {
    fn begin(&mut self, _: MessageKind) {
        self.hearing.first_byte.get_or_insert(self.at);
        if !self.is_awaited() || self.only_waits {
            self.inbox.partial = Some(Message::default());
        }
    }

    fn fields(&mut self, lines: &[u8]) {
        match &mut self.inbox.partial {
            Some(partial) => lines.clone_into(&mut partial.fields),
            None => self.sink.trailers(lines),
        }
    }

    fn piece(&mut self, bytes: &[u8]) {
        let is_awaited = self.is_awaited();
        if !self.inbox.extend_partial(bytes) {
            self.sink.body(bytes);
        }
        if is_awaited {
            self.hearing.observe(bytes);
        }
    }

    fn end(&mut self, length: u64) {
        let partial = self.inbox.partial.take();
        if !self.is_awaited() {
            self.inbox.push(partial.unwrap_or_default());
            return;
        }
        if let Some(message) = partial {
            // It began before the request.
            if !message.fields.is_empty() {
                self.sink.trailers(&message.fields);
            }
            self.sink.body(&message.body);
        }
        self.result = Some(Ok(end(0, length)));
    }
}

impl<S: ResponseSink> ClientSink for MessageCapture<'_, S> {
    fn upgraded(&mut self, head: &ResponseHead<'_>) {
        self.hearing.first_byte.get_or_insert(self.at);
        self.sink.head(head);
        self.result.get_or_insert(Ok(end(head.status, 0)));
    }

    fn refused(&mut self, head: &ResponseHead<'_>) {
        self.hearing.first_byte.get_or_insert(self.at);
        self.hearing.observe(head.raw);
        self.sink.head(head);
        let refused = ResponseEnd { keep_alive: false, ..end(head.status, 0) };
        self.result.get_or_insert(Ok(refused));
    }

    fn closed(&mut self, code: CloseCode, reason: &[u8]) {
        let result = if self.is_closing {
            Ok(ResponseEnd { keep_alive: false, ..end(code.0, 0) })
        } else {
            Err(failure::websocket_closed(code, reason))
        };
        self.result.get_or_insert(result);
    }

    fn ended(&mut self) {
        self.result.get_or_insert(Err(failure::STREAM_ENDED));
    }

    fn answer_begins(&mut self) {
        self.hearing.first_byte.get_or_insert(self.at);
    }

    fn call_ended(&mut self, call: &CallEnd<'_>) -> bool {
        if self.result.is_some() {
            return false;
        }
        self.hearing.first_byte.get_or_insert(self.at);
        self.result = Some(if !call.is_answer && call.status == 0 {
            Err(failure::CALL_ENDED)
        } else {
            self.sink.call_fields(call.lines, call.trailers_at);
            Ok(ResponseEnd { keep_alive: false, ..end(call.status, call.length) })
        });
        true
    }
}
