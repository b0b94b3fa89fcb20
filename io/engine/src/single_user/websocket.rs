//! WebSocket on the connection of one user.

use std::sync::Arc;

use wavetank_driver::{Driver, Event};
use wavetank_measure::ErrorClass;
use wavetank_units::Nanos;
use wavetank_wire::h1::{ResponseEnd, ResponseHead, ResponseSink};
use wavetank_wire::ws::{
    Client, ClientSink, CloseCode, Deflater, Limits, MessageKind, MessageSink, Operation,
};

use super::connection::{Connector, RequestError, ResponseCapture, ResponseTimes, SingleConnection};
use crate::failure::{self, Failure};
use crate::machine::Inbox;
use crate::upgrade_request::upgrade_request;

/// A WebSocket, or a connection that a step upgrades.
pub(super) struct LineWebSocket {
    client: Client,
    inbox: Inbox,
    deflater: Option<Box<Deflater>>,
}

/// What a step gets: the end of its answer, or why there is none.
type Answered = Result<ResponseEnd, Failure>;

impl Connector<'_> {
    /// Makes a new connection a WebSocket. If no step does that, it waits for the server's
    /// response, until `until`.
    pub(super) fn begin_websocket<D: Driver>(
        &self,
        line: &mut SingleConnection<D>,
        target: u16,
        until: Nanos,
    ) -> Result<(), Failure> {
        let limits = Limits::default();
        let most = limits.message_bytes_max.min(self.limits().body_bytes_max);
        let client = Client::new(Limits { message_bytes_max: most, ..limits }, self.plan.seed);
        let mut socket = LineWebSocket { client, inbox: Inbox::default(), deflater: None };
        if self.plan.upgrades_itself(usize::from(target)) {
            let request = upgrade_request(self.plan, &self.plan.targets[usize::from(target)]);
            socket.client.connect(&request);
            send(line, &mut socket.client);
            let mut hearing = ResponseCapture::default();
            let heard = (&mut hearing, &mut ());
            let timeout = failure::UPGRADE_TIMEOUT;
            let end = self.hear_message(line, &mut socket, (until, &timeout), heard).map_err(|failure| {
                let is_closed = failure.peer_closed && failure.errno.is_none();
                if is_closed { failure::UPGRADE_CLOSED } else { failure }
            })?;
            if end.status != 101 {
                return Err(failure::upgrade_refused(end.status));
            }
        }
        line.websocket = Some(Box::new(socket));
        Ok(())
    }

    /// Does what `request` says on a WebSocket and waits for the answer, until `deadline`.
    pub(super) fn ask_message<D: Driver>(
        &self,
        line: &mut SingleConnection<D>,
        request: &Arc<[u8]>,
        deadline: Nanos,
        sink: &mut impl ResponseSink,
    ) -> Result<ResponseTimes, RequestError> {
        let mut socket = line.websocket.take().expect("the caller has checked that it is a WebSocket");
        let mut hearing = ResponseCapture { sent: true, ..ResponseCapture::default() };
        let sent = self.clock.now();
        let result = self.operate(line, &mut socket, request, (deadline, &mut hearing, sink));
        line.websocket = Some(socket);
        match result {
            Ok(answer) => {
                line.served += 1;
                let complete = self.clock.now();
                let first_byte = hearing.first_byte.unwrap_or(complete);
                Ok(ResponseTimes { answer, sent, first_byte, complete, surplus: false })
            }
            Err(failure) => Err(RequestError {
                failure,
                address: Some(line.opened.address),
                sent: hearing.sent && line.driver.take_unsent().is_none(),
                untouched: false,
                seen: hearing.seen,
            }),
        }
    }

    fn operate<D: Driver>(
        &self,
        line: &mut SingleConnection<D>,
        socket: &mut LineWebSocket,
        request: &[u8],
        (deadline, hearing, sink): (Nanos, &mut ResponseCapture, &mut impl ResponseSink),
    ) -> Answered {
        let operation = Operation::parse(request);
        match operation {
            Operation::Connect(request) => socket.client.connect(request),
            _ if !socket.client.is_open() => {
                hearing.sent = false;
                return Err(failure::NOT_UPGRADED);
            }
            Operation::Send(kind, message) | Operation::Post(kind, message) => {
                socket.client.send(kind, message, &mut socket.deflater);
            }
            Operation::Close(code) => {
                let code = str::from_utf8(code).ok().and_then(|digits| digits.parse().ok());
                socket.client.close(code.map_or(CloseCode::NORMAL, CloseCode));
            }
            Operation::Wait | Operation::WaitOn => {
                if let Some(message) = socket.inbox.pop() {
                    sink.body(&message);
                    return Ok(end(0, message.len() as u64));
                }
            }
        }
        send(line, &mut socket.client);
        if matches!(operation, Operation::Post(..)) {
            return Ok(end(0, 0));
        }
        let timeout = Failure::new(ErrorClass::RequestTimeout);
        self.hear_message(line, socket, (deadline, &timeout), (hearing, sink))
    }

    /// Waits for the next answer.
    fn hear_message<D: Driver>(
        &self,
        line: &mut SingleConnection<D>,
        socket: &mut LineWebSocket,
        (deadline, timeout): (Nanos, &Failure),
        (hearing, sink): (&mut ResponseCapture, &mut impl ResponseSink),
    ) -> Answered {
        loop {
            match self.event(&mut line.driver, deadline, timeout)? {
                Event::Received(id, len) if id == line.conn => {
                    let at = self.clock.now();
                    let is_closing = socket.client.is_closing();
                    let LineWebSocket { client, inbox, .. } = &mut *socket;
                    let mut heard =
                        Heard { hearing, sink, inbox, unasked: Vec::new(), at, is_closing, result: None };
                    let read = client.read(line.driver.received(len), &mut heard);
                    let result = heard.result;
                    send(line, client);
                    if let Some(result) = result {
                        return result;
                    }
                    read.map_err(failure::websocket_failure)?;
                }
                Event::Ended(id, how) if id == line.conn => {
                    return Err(failure::end_failure(how, &line.driver));
                }
                _ => {}
            }
        }
    }
}

impl<D: Driver> SingleConnection<D> {
    /// Whether `request` is a message that awaits no answer.
    pub(super) fn is_one_way(&self, request: &[u8]) -> bool {
        self.websocket.is_some() && matches!(Operation::parse(request), Operation::Post(..))
    }

    /// Whether `request` upgrades a connection, and this one is a WebSocket already.
    pub(super) fn must_be_new(&self, request: &[u8]) -> bool {
        let is_open = self.websocket.as_ref().is_some_and(|socket| socket.client.is_websocket());
        is_open && matches!(Operation::parse(request), Operation::Connect(_))
    }

    /// Reads bytes that arrive between two steps. Returns whether the WebSocket is still open.
    pub(super) fn read_messages_between(&mut self, len: usize) -> bool {
        let Some(mut socket) = self.websocket.take() else { return false };
        let LineWebSocket { client, inbox, .. } = &mut *socket;
        let mut heard = Heard {
            hearing: &mut ResponseCapture::default(),
            sink: &mut (),
            inbox,
            unasked: Vec::new(),
            at: Nanos::ZERO,
            is_closing: false,
            // Nothing is awaited, so every message goes to the inbox.
            result: Some(Ok(end(0, 0))),
        };
        let is_read = client.read(self.driver.received(len), &mut heard).is_ok();
        send(self, client);
        let is_usable = is_read && client.is_open();
        self.websocket = Some(socket);
        is_usable
    }
}

/// Sends what the machine has written.
fn send<D: Driver>(line: &mut SingleConnection<D>, client: &mut Client) {
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
    unasked: Vec<u8>,
    at: Nanos,
    is_closing: bool,
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
    }

    fn piece(&mut self, bytes: &[u8]) {
        if self.is_awaited() {
            self.hearing.observe(bytes);
            self.sink.body(bytes);
        } else {
            self.unasked.extend_from_slice(bytes);
        }
    }

    fn end(&mut self, length: u64) {
        if self.is_awaited() {
            self.result = Some(Ok(end(0, length)));
        } else {
            self.inbox.push(std::mem::take(&mut self.unasked));
        }
    }
}

impl<S: ResponseSink> ClientSink for Heard<'_, S> {
    fn upgraded(&mut self, head: &ResponseHead<'_>) {
        self.hearing.first_byte.get_or_insert(self.at);
        self.sink.head(head);
        self.result.get_or_insert(Ok(end(101, 0)));
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
}
