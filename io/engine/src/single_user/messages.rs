//! Messages on the connection of one user: WebSocket, event stream, TCP, UDP.

use std::sync::Arc;

use wavetank_driver::{CloseReason, Driver, Errno, Event, SendStatus};
use wavetank_measure::ErrorClass;
use wavetank_plan::UrlProtocol;
use wavetank_units::Nanos;
use wavetank_wire::h1::{self, ResponseEnd, ResponseSink};
use wavetank_wire::messages::{MessageClient, MessageFault, Operation, Started};
use wavetank_wire::ws::{self, Deflater};
use wavetank_wire::{datagram, grpc, raw, sse};

use super::connection::{Connector, RequestError, ResponseTimes, SingleConnection};
use super::message_capture::{Answered, MessageCapture, end};
use super::response_capture::ResponseCapture;
use crate::failure::{self, Failure};
use crate::inbox::Inbox;
use crate::upgrade_request::upgrade_request;

/// A connection that carries messages, or that a step makes ready for them.
pub(super) struct ConnectionMessages {
    protocol: UrlProtocol,
    client: MessageClient,
    inbox: Inbox,
    deflater: Option<Box<Deflater>>,
    /// The last event id of the stream that this one continues.
    last_id: Vec<u8>,
    /// The server has broken the protocol between two steps.
    is_broken: bool,
}

impl ConnectionMessages {
    /// Whether no step can send on the connection any more.
    pub(super) fn is_over(&self) -> bool {
        self.is_broken || (self.client.is_used() && !self.client.is_open())
    }

    /// Whether something has arrived that a step may read.
    fn has_unread(&self) -> bool {
        !self.is_broken && (!self.inbox.is_empty() || self.client.has_unread())
    }
}

impl Connector<'_> {
    /// Makes a new connection ready for messages. If no step does that, it waits for the server's
    /// response, until `until`.
    pub(super) fn begin_messages<D: Driver>(
        &self,
        connection: &mut SingleConnection<D>,
        target: u16,
        until: Nanos,
    ) -> Result<(), Failure> {
        let target = usize::from(target);
        let protocol = self.plan.targets[target].protocol();
        let client = self.message_client(protocol);
        let mut own = ConnectionMessages {
            protocol,
            client,
            inbox: Inbox::default(),
            deflater: None,
            last_id: Vec::new(),
            is_broken: false,
        };
        if self.plan.upgrades_itself(target) {
            let request = upgrade_request(self.plan, &self.plan.targets[target]);
            if own.client.start(Operation::Connect(&request), &mut None, b"") == Started::Sends {
                let _ = send(connection, &mut own.client);
                self.await_opening(connection, &mut own, until)?;
            }
        }
        let greeting = std::mem::take(&mut connection.greeting);
        read_between(&mut own, &greeting).map_err(failure::message_failure)?;
        connection.messages = Some(Box::new(own));
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
        connection: &mut SingleConnection<D>,
        own: &mut ConnectionMessages,
        until: Nanos,
    ) -> Result<(), Failure> {
        let protocol = own.protocol;
        let mut hearing = ResponseCapture::default();
        let heard = (&mut hearing, &mut ());
        let timeout = failure::opening_timeout(protocol);
        let end = self.hear_message(connection, own, (until, &timeout, false), heard).map_err(|failure| {
            let is_closed = failure.peer_closed && failure.errno.is_none();
            if is_closed { failure::opening_closed(protocol) } else { failure }
        })?;
        if own.client.is_open() { Ok(()) } else { Err(failure::opening_refused(protocol, end.status)) }
    }

    /// Does what `request` says and waits for the answer, until `deadline`.
    pub(super) fn ask_message<D: Driver>(
        &self,
        connection: &mut SingleConnection<D>,
        request: &Arc<[u8]>,
        deadline: Nanos,
        sink: &mut impl ResponseSink,
    ) -> Result<ResponseTimes, RequestError> {
        let mut own = connection.messages.take().expect("the caller has checked that it carries messages");
        let mut hearing = ResponseCapture { sent: true, ..ResponseCapture::default() };
        let sent = self.clock.now();
        let result = self.operate(connection, &mut own, request, (deadline, &mut hearing, sink));
        connection.messages = Some(own);
        let concluded = self.conclude(connection, sent, hearing, result.map(|answer| (answer, false)));
        concluded.map_err(|error| RequestError { untouched: false, ..error })
    }

    fn operate<D: Driver>(
        &self,
        connection: &mut SingleConnection<D>,
        own: &mut ConnectionMessages,
        request: &[u8],
        (deadline, hearing, sink): (Nanos, &mut ResponseCapture, &mut impl ResponseSink),
    ) -> Answered {
        let operation = Operation::parse(request);
        let ConnectionMessages { client, inbox, deflater, last_id, .. } = own;
        let mut is_handed_over = true;
        let started = if inbox.may_answer(operation) {
            Started::Waits
        } else {
            client.start(operation, deflater, last_id)
        };
        match started {
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
                if let Some(message) = inbox.pop_recent() {
                    if !message.fields.is_empty() {
                        sink.trailers(&message.fields);
                    }
                    sink.body(&message.body);
                    return Ok(end(0, message.body.len() as u64));
                }
            }
            Started::Sends => is_handed_over = send(connection, client) == Ok(SendStatus::All),
        }
        let timeout = Failure::new(ErrorClass::RequestTimeout);
        if operation.is_one_way() {
            if !is_handed_over {
                self.await_flush(connection, own, deadline, &timeout)?;
            }
            return Ok(end(0, 0));
        }
        if matches!((&*client, operation), (MessageClient::Call(_), Operation::Close(_))) {
            inbox.drain(|message| sink.body(&message.body));
        }
        self.hear_message(connection, own, (deadline, &timeout, operation.only_waits()), (hearing, sink))
    }

    /// Waits until the kernel has everything that was sent. Messages that arrive in the meantime
    /// are kept.
    fn await_flush<D: Driver>(
        &self,
        connection: &mut SingleConnection<D>,
        own: &mut ConnectionMessages,
        deadline: Nanos,
        timeout: &Failure,
    ) -> Result<(), Failure> {
        loop {
            match self.event(&mut connection.driver, deadline, timeout)? {
                Event::Flushed(id) if id == connection.conn => return Ok(()),
                Event::Received(id, len) if id == connection.conn => {
                    let read = read_between(own, connection.driver.received(len));
                    let _ = send(connection, &mut own.client);
                    read.map_err(failure::message_failure)?;
                    if !own.client.is_open() {
                        return Err(failure::AFTER_CLOSE);
                    }
                }
                Event::Ended(id, how) if id == connection.conn => {
                    return Err(failure::end_failure(how, &connection.driver));
                }
                _ => {}
            }
        }
    }

    /// Waits for the next answer. `only_waits`: the operation has sent nothing.
    fn hear_message<D: Driver>(
        &self,
        connection: &mut SingleConnection<D>,
        own: &mut ConnectionMessages,
        (deadline, timeout, only_waits): (Nanos, &Failure, bool),
        (hearing, sink): (&mut ResponseCapture, &mut impl ResponseSink),
    ) -> Answered {
        // Bytes that arrived before may be the answer.
        let mut received = Some(0);
        loop {
            let is_closing = own.client.is_closing();
            let ConnectionMessages { client, inbox, .. } = &mut *own;
            let at = self.clock.now();
            let mut heard = MessageCapture {
                hearing: &mut *hearing,
                sink: &mut *sink,
                inbox,
                at,
                is_closing,
                only_waits,
                result: None,
            };
            if let Some(len) = received {
                let input = if len == 0 { &[] } else { connection.driver.received(len) };
                let read = client.read(input, &mut heard);
                let result = heard.result;
                let _ = send(connection, client);
                if let Some(result) = result {
                    return result;
                }
                read.map_err(failure::message_failure)?;
            }
            let event = match connection.end {
                Some(how) => Event::Ended(connection.conn, how),
                None => self.event(&mut connection.driver, deadline, timeout)?,
            };
            received = match event {
                Event::Received(id, len) if id == connection.conn => Some(len),
                Event::Ended(id, how) if id == connection.conn => {
                    let mut heard =
                        MessageCapture { hearing, sink, inbox, at, is_closing, only_waits, result: None };
                    if how == CloseReason::Eof && client.end(&mut heard) {
                        let whole = end(0, 0);
                        let answer = heard.result.unwrap_or(Ok(whole));
                        return answer.map(|answer| ResponseEnd { keep_alive: false, ..answer });
                    }
                    return Err(failure::end_failure(how, &connection.driver));
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

    /// Whether something has arrived that no step has read.
    pub(super) fn has_unread(&self) -> bool {
        self.messages.as_ref().is_some_and(|own| own.has_unread())
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
        own.is_broken |= read_between(&mut own, self.driver.received(len)).is_err();
        let _ = send(self, &mut own.client);
        let is_usable = !own.is_broken && own.client.is_open();
        self.messages = Some(own);
        is_usable
    }
}

/// Reads bytes that no step awaits.
fn read_between(own: &mut ConnectionMessages, bytes: &[u8]) -> Result<(), MessageFault> {
    let mut heard = MessageCapture {
        hearing: &mut ResponseCapture::default(),
        sink: &mut (),
        inbox: &mut own.inbox,
        at: Nanos::ZERO,
        is_closing: false,
        only_waits: false,
        // Nothing is awaited, so every message goes to the inbox.
        result: Some(Ok(end(0, 0))),
    };
    own.client.read(bytes, &mut heard)
}

/// Sends what the machine has written. An error may be ignored: the end of the connection is then
/// reported.
fn send<D: Driver>(
    connection: &mut SingleConnection<D>,
    client: &mut MessageClient,
) -> Result<SendStatus, Errno> {
    if client.out().is_empty() {
        return Ok(SendStatus::All);
    }
    let sent = connection.driver.send(connection.conn, client.out());
    client.out().clear();
    sent
}
