//! [`MessageIntake`]: receives the messages of one connection.

use std::collections::VecDeque;

use wavetank_units::Nanos;
use wavetank_wire::grpc::CallEnd;
use wavetank_wire::h1::{ResponseEnd, ResponseHead};
use wavetank_wire::ws::{ClientSink, CloseCode, MessageKind, MessageSink};

use super::events::ConnectionOutcome;
use crate::exchange_buffers::ExchangeBuffers;
use crate::failure::{self, Failure};
use crate::inbox::{Inbox, Message};
use crate::machine::ping_time;
use crate::request_queue::{QueuedRequest, RequestQueue};

/// Why a connection with messages is to be closed.
pub(super) enum Closing {
    /// The server answered the request for a WebSocket or an event stream with this status.
    Refused(u16),
    /// Both sides have sent a Close frame, the server after us, or a call is over.
    Agreed,
    /// The server sent one, or ended an event stream.
    ByPeer(Failure),
}

/// Receives the messages of one connection.
pub(super) struct MessageIntake<'a> {
    buffers: &'a mut ExchangeBuffers,
    outcomes: &'a mut VecDeque<ConnectionOutcome>,
    queue: &'a mut RequestQueue,
    /// Where messages go that no request awaits; `None`: they are discarded.
    inbox: Option<&'a mut Inbox>,
    first_byte: &'a mut Nanos,
    at: Nanos,
    /// We sent a Close frame before.
    pub(super) is_closing: bool,
    /// The number of requests that were answered.
    pub(super) answered: u32,
    /// The connection is ready for messages now.
    pub(super) upgraded: bool,
    pub(super) closing: Option<Closing>,
    /// The number of messages that arrived.
    pub(super) received: u64,
    /// When the ping was sent that was answered last.
    pub(super) pong: Option<Nanos>,
}

impl<'a> MessageIntake<'a> {
    pub(super) fn new(
        buffers: &'a mut ExchangeBuffers,
        outcomes: &'a mut VecDeque<ConnectionOutcome>,
        (queue, inbox): (&'a mut RequestQueue, Option<&'a mut Inbox>),
        first_byte: &'a mut Nanos,
        at: Nanos,
    ) -> Self {
        Self {
            buffers,
            outcomes,
            queue,
            inbox,
            first_byte,
            at,
            is_closing: false,
            answered: 0,
            upgraded: false,
            closing: None,
            received: 0,
            pong: None,
        }
    }

    /// Returns the request that the current message answers.
    fn awaiting(&self) -> Option<QueuedRequest> {
        if self.is_closing { None } else { self.queue.first_awaiting() }
    }

    /// Returns the message for the inbox that has begun.
    fn partial(&mut self) -> Option<&mut Message> {
        self.inbox.as_mut()?.partial.as_mut()
    }

    fn answer(&mut self, end: ResponseEnd) {
        let Some(request) = self.queue.take_awaiting() else { return };
        self.answered += 1;
        let (first_byte, at) = (*self.first_byte, self.at);
        self.outcomes.push_back(ConnectionOutcome::Answered(request.exchange, end, first_byte, at));
    }
}

impl MessageSink for MessageIntake<'_> {
    fn begin(&mut self, _: MessageKind) {
        *self.first_byte = self.at;
        match (self.awaiting(), &mut self.inbox) {
            // What only waits may time out inside the message, which is then for the next request.
            (Some(request), Some(inbox)) if request.flags.only_waits() => {
                inbox.partial = Some(Message::default());
            }
            (Some(request), _) => self.buffers.begin_message(request.exchange, request.flags),
            (None, Some(inbox)) => inbox.partial = Some(Message::default()),
            (None, None) => {}
        }
    }

    fn fields(&mut self, lines: &[u8]) {
        if let Some(partial) = self.partial() {
            lines.clone_into(&mut partial.fields);
        } else if let Some(request) = self.awaiting() {
            self.buffers.message_fields(request.exchange, request.flags, lines);
        }
    }

    fn piece(&mut self, bytes: &[u8]) {
        if self.inbox.as_mut().is_some_and(|inbox| inbox.extend_partial(bytes)) {
            return;
        }
        if let Some(request) = self.awaiting()
            && request.flags.keeps_body()
        {
            self.buffers.stream_body(request.exchange, bytes);
        }
    }

    fn end(&mut self, length: u64) {
        self.received += 1;
        let partial = self.inbox.as_mut().and_then(|inbox| inbox.partial.take());
        let Some(request) = self.awaiting() else {
            if let (Some(inbox), Some(message)) = (&mut self.inbox, partial) {
                inbox.push(message);
            }
            return;
        };
        if let Some(message) = partial {
            // It began before the request, or might have been left to the next one.
            keep_message(self.buffers, request, &message);
        }
        self.answer(message_end(0, length));
    }
}

impl ClientSink for MessageIntake<'_> {
    fn upgraded(&mut self, head: &ResponseHead<'_>) {
        self.upgraded = true;
        if let Some(request) = self.queue.first_sent() {
            *self.first_byte = self.at;
            self.buffers.upgrade_head(request.exchange, head);
            self.answer(message_end(head.status, 0));
        }
    }

    fn refused(&mut self, head: &ResponseHead<'_>) {
        self.closing = Some(Closing::Refused(head.status));
        if let Some(request) = self.queue.first_sent() {
            *self.first_byte = self.at;
            self.buffers.upgrade_head(request.exchange, head);
            self.answer(message_end(head.status, 0));
        }
    }

    fn closed(&mut self, code: CloseCode, reason: &[u8]) {
        if self.is_closing {
            *self.first_byte = self.at;
            self.answer(message_end(code.0, 0));
            self.closing = Some(Closing::Agreed);
        } else {
            self.closing = Some(Closing::ByPeer(failure::websocket_closed(code, reason)));
        }
    }

    fn ended(&mut self) {
        self.closing = Some(Closing::ByPeer(failure::STREAM_ENDED));
    }

    fn pong(&mut self, payload: &[u8]) {
        self.pong = ping_time(payload).or(self.pong);
    }

    fn answer_part(&mut self) {
        self.received += 1;
    }

    fn answer_begins(&mut self) {
        *self.first_byte = self.at;
    }

    fn call_ended(&mut self, end: &CallEnd<'_>) -> bool {
        let Some(request) = self.queue.first_awaiting() else { return false };
        if !end.is_answer {
            *self.first_byte = self.at;
            if end.status == 0 {
                // A message was awaited.
                self.closing = Some(Closing::ByPeer(failure::CALL_ENDED));
                return true;
            }
            self.buffers.begin_message(request.exchange, request.flags);
        }
        self.buffers.message_fields(request.exchange, request.flags, end.lines);
        self.answer(message_end(end.status, end.length));
        self.closing = Some(Closing::Agreed);
        true
    }
}

/// Keeps a message that has arrived as the answer of a request.
pub(super) fn keep_message(buffers: &mut ExchangeBuffers, request: QueuedRequest, message: &Message) {
    buffers.begin_message(request.exchange, request.flags);
    buffers.message_fields(request.exchange, request.flags, &message.fields);
    keep_body(buffers, request, message);
}

fn keep_body(buffers: &mut ExchangeBuffers, request: QueuedRequest, message: &Message) {
    if !request.flags.keeps_body() {
        return;
    }
    if message.overflowed {
        buffers.overflow(request.exchange);
    } else {
        buffers.stream_body(request.exchange, &message.body);
    }
}

/// Prepares for the answer of a gRPC call, which has all messages that no step has read.
pub(super) fn begin_call_answer(buffers: &mut ExchangeBuffers, request: QueuedRequest, inbox: &mut Inbox) {
    buffers.begin_message(request.exchange, request.flags);
    inbox.drain(|message| keep_body(buffers, request, message));
}

/// Describes the end of an answer with this status and length. Messages have status 0.
pub(super) const fn message_end(status: u16, length: u64) -> ResponseEnd {
    ResponseEnd { status, keep_alive: true, close_announced: false, body_bytes: length, head_bytes: 0 }
}
