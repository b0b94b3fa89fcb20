//! Messages on the connection of one user: WebSocket, event stream, TCP, UDP.

use std::sync::Arc;

use wavetank_driver::{CloseReason, Driver, Event};
use wavetank_measure::ErrorClass;
use wavetank_plan::UrlProtocol;
use wavetank_units::Nanos;
use wavetank_wire::grpc::CallEnd;
use wavetank_wire::h1::{self, ResponseEnd, ResponseHead, ResponseSink};
use wavetank_wire::messages::{MessageClient, Operation, Started};
use wavetank_wire::ws::{self, ClientSink, CloseCode, Deflater, MessageKind, MessageSink};
use wavetank_wire::{datagram, grpc, raw, sse};

use super::connection::{Connector, RequestError, ResponseCapture, ResponseTimes, SingleConnection};
use crate::failure::{self, Failure};
use crate::inbox::{Inbox, Message};
use crate::upgrade_request::upgrade_request;

/// A connection that carries messages, or that a step makes ready for them.
pub(super) struct LineMessages {
    protocol: UrlProtocol,
    client: MessageClient,
    inbox: Inbox,
    deflater: Option<Box<Deflater>>,
    /// The last event id of the stream that this one continues.
    last_id: Vec<u8>,
}

/// What a step gets: the end of its answer, or why there is none.
type Answered = Result<ResponseEnd, Failure>;

impl Connector<'_> {
    /// Makes a new connection ready for messages. If no step does that, it waits for the server's
    /// response, until `until`.
    pub(super) fn begin_messages<D: Driver>(
        &self,
        line: &mut SingleConnection<D>,
        target: u16,
        until: Nanos,
    ) -> Result<(), Failure> {
        let target = usize::from(target);
        let protocol = self.plan.targets[target].protocol();
        let client = self.message_client(protocol);
        let mut own =
            LineMessages { protocol, client, inbox: Inbox::default(), deflater: None, last_id: Vec::new() };
        if self.plan.upgrades_itself(target) {
            let request = upgrade_request(self.plan, &self.plan.targets[target]);
            if own.client.start(Operation::Connect(&request), &mut None, b"") == Started::Sends {
                send(line, &mut own.client);
                self.await_opening(line, &mut own, until)?;
            }
        }
        line.messages = Some(Box::new(own));
        Ok(())
    }

    fn message_client(&self, protocol: UrlProtocol) -> MessageClient {
        let limits = ws::Limits::default();
        let most = limits.message_bytes_max.min(self.limits().body_bytes_max);
        match protocol {
            UrlProtocol::Events => {
                let limits = h1::Limits { body_bytes_max: most, ..self.limits() };
                MessageClient::Events(sse::Client::new(limits))
            }
            UrlProtocol::Tcp => MessageClient::Raw(raw::Client::new(most, true)),
            UrlProtocol::Udp => MessageClient::Datagrams(datagram::Client::new(true)),
            UrlProtocol::Grpc => MessageClient::Call(grpc::Client::new(most)),
            _ => {
                let limits = ws::Limits { message_bytes_max: most, ..limits };
                MessageClient::WebSocket(ws::Client::new(limits, self.plan.seed))
            }
        }
    }

    /// Waits for the response that opens a WebSocket or an event stream.
    fn await_opening<D: Driver>(
        &self,
        line: &mut SingleConnection<D>,
        own: &mut LineMessages,
        until: Nanos,
    ) -> Result<(), Failure> {
        let protocol = own.protocol;
        let mut hearing = ResponseCapture::default();
        let heard = (&mut hearing, &mut ());
        let timeout = failure::opening_timeout(protocol);
        let end = self.hear_message(line, own, (until, &timeout, false), heard).map_err(|failure| {
            let is_closed = failure.peer_closed && failure.errno.is_none();
            if is_closed { failure::opening_closed(protocol) } else { failure }
        })?;
        if own.client.is_open() { Ok(()) } else { Err(failure::opening_refused(protocol, end.status)) }
    }

    /// Does what `request` says and waits for the answer, until `deadline`.
    pub(super) fn ask_message<D: Driver>(
        &self,
        line: &mut SingleConnection<D>,
        request: &Arc<[u8]>,
        deadline: Nanos,
        sink: &mut impl ResponseSink,
    ) -> Result<ResponseTimes, RequestError> {
        let mut own = line.messages.take().expect("the caller has checked that it carries messages");
        let mut hearing = ResponseCapture { sent: true, ..ResponseCapture::default() };
        let sent = self.clock.now();
        let result = self.operate(line, &mut own, request, (deadline, &mut hearing, sink));
        line.messages = Some(own);
        let concluded = self.conclude(line, sent, hearing, result.map(|answer| (answer, false)));
        concluded.map_err(|error| RequestError { untouched: false, ..error })
    }

    fn operate<D: Driver>(
        &self,
        line: &mut SingleConnection<D>,
        own: &mut LineMessages,
        request: &[u8],
        (deadline, hearing, sink): (Nanos, &mut ResponseCapture, &mut impl ResponseSink),
    ) -> Answered {
        let operation = Operation::parse(request);
        let LineMessages { client, inbox, deflater, last_id, .. } = own;
        match client.start(operation, deflater, last_id) {
            // The caller has made a new connection if one was needed.
            Started::NotOpen | Started::NeedsNewConnection => {
                hearing.sent = false;
                return Err(failure::not_open(own.protocol));
            }
            Started::Refused(fault) => {
                hearing.sent = false;
                return Err(failure::unsendable(fault));
            }
            Started::Done => return Ok(end(0, 0)),
            Started::Closes => return Ok(ResponseEnd { keep_alive: false, ..end(0, 0) }),
            Started::Waits => {
                if let Some(message) = inbox.pop() {
                    if !message.fields.is_empty() {
                        sink.trailers(&message.fields);
                    }
                    sink.body(&message.body);
                    return Ok(end(0, message.body.len() as u64));
                }
            }
            Started::Sends => send(line, client),
        }
        if operation.is_one_way() {
            return Ok(end(0, 0));
        }
        if matches!((&*client, operation), (MessageClient::Call(_), Operation::Close(_))) {
            inbox.drain(|message| sink.body(&message.body));
        }
        let timeout = Failure::new(ErrorClass::RequestTimeout);
        self.hear_message(line, own, (deadline, &timeout, operation.only_waits()), (hearing, sink))
    }

    /// Waits for the next answer. `only_waits`: the operation has sent nothing.
    fn hear_message<D: Driver>(
        &self,
        line: &mut SingleConnection<D>,
        own: &mut LineMessages,
        (deadline, timeout, only_waits): (Nanos, &Failure, bool),
        (hearing, sink): (&mut ResponseCapture, &mut impl ResponseSink),
    ) -> Answered {
        // Bytes that arrived before may be the answer.
        let mut received = Some(0);
        loop {
            let is_closing = own.client.is_closing();
            let LineMessages { client, inbox, .. } = &mut *own;
            let at = self.clock.now();
            let mut heard = Heard {
                hearing: &mut *hearing,
                sink: &mut *sink,
                inbox,
                at,
                is_closing,
                only_waits,
                result: None,
            };
            if let Some(len) = received {
                let input = if len == 0 { &[] } else { line.driver.received(len) };
                let read = client.read(input, &mut heard);
                let result = heard.result;
                send(line, client);
                if let Some(result) = result {
                    return result;
                }
                read.map_err(failure::message_failure)?;
            }
            received = match self.event(&mut line.driver, deadline, timeout)? {
                Event::Received(id, len) if id == line.conn => Some(len),
                Event::Ended(id, how) if id == line.conn => {
                    let mut heard = Heard { hearing, sink, inbox, at, is_closing, only_waits, result: None };
                    if how == CloseReason::Eof && client.end(&mut heard) {
                        let whole = end(0, 0);
                        let answer = heard.result.unwrap_or(Ok(whole));
                        return answer.map(|answer| ResponseEnd { keep_alive: false, ..answer });
                    }
                    return Err(failure::end_failure(how, &line.driver));
                }
                _ => None,
            };
        }
    }
}

impl<D: Driver> SingleConnection<D> {
    /// Whether `request` is a message that awaits no answer.
    pub(super) fn is_one_way(&self, request: &[u8]) -> bool {
        self.messages.is_some() && Operation::parse(request).is_one_way()
    }

    /// Whether `request` only waited for a message, so that the connection outlives its timeout. It
    /// waits no longer.
    pub(super) fn waited(&mut self, request: &[u8]) -> bool {
        let only_waits = Operation::parse(request).only_waits();
        let Some(own) = self.messages.as_mut().filter(|_| only_waits) else { return false };
        own.client.stop_waiting();
        true
    }

    /// Whether `request` makes a connection ready for messages, and this one is already.
    pub(super) fn must_be_new(&self, request: &[u8]) -> bool {
        let is_used = self.messages.as_ref().is_some_and(|own| own.client.is_used());
        is_used && Operation::parse(request).opens()
    }

    /// Returns the last event id of a stream that is lost.
    pub(super) fn last_event_id(&self) -> Vec<u8> {
        self.messages.as_ref().map_or_else(Vec::new, |own| own.client.last_id().to_owned())
    }

    /// Continues a lost stream after the event with this id, if a step opens it.
    pub(super) fn continue_events(&mut self, last_id: Vec<u8>) {
        if let Some(own) = &mut self.messages {
            own.last_id = last_id;
        }
    }

    /// Reads bytes that arrive between two steps. Returns whether the connection is still open.
    pub(super) fn read_messages_between(&mut self, len: usize) -> bool {
        let Some(mut own) = self.messages.take() else { return false };
        let LineMessages { client, inbox, .. } = &mut *own;
        let mut heard = Heard {
            hearing: &mut ResponseCapture::default(),
            sink: &mut (),
            inbox,
            at: Nanos::ZERO,
            is_closing: false,
            only_waits: false,
            // Nothing is awaited, so every message goes to the inbox.
            result: Some(Ok(end(0, 0))),
        };
        let is_read = client.read(self.driver.received(len), &mut heard).is_ok();
        send(self, client);
        let is_usable = is_read && client.is_open();
        self.messages = Some(own);
        is_usable
    }
}

/// Sends what the machine has written.
fn send<D: Driver>(line: &mut SingleConnection<D>, client: &mut MessageClient) {
    if !client.out().is_empty() {
        // If this fails, the end of the connection is reported.
        let _ = line.driver.send(line.conn, client.out());
        client.out().clear();
    }
}

const fn end(status: u16, length: u64) -> ResponseEnd {
    ResponseEnd { status, keep_alive: true, close_announced: false, body_bytes: length, head_bytes: 0 }
}

/// Receives the answer; what follows it goes to the inbox.
struct Heard<'a, S> {
    hearing: &'a mut ResponseCapture,
    sink: &'a mut S,
    inbox: &'a mut Inbox,
    at: Nanos,
    is_closing: bool,
    /// What is awaited may time out inside a message, which is then for the next step.
    only_waits: bool,
    result: Option<Answered>,
}

impl<S> Heard<'_, S> {
    const fn is_awaited(&self) -> bool {
        self.result.is_none() && !self.is_closing
    }
}

impl<S: ResponseSink> MessageSink for Heard<'_, S> {
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

impl<S: ResponseSink> ClientSink for Heard<'_, S> {
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
