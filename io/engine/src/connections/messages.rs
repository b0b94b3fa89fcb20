//! Connections that carry WebSocket messages. Their requests are in the queue of the connection, as
//! with HTTP/1: a message, and the next message of the server as its answer.

use wavetank_driver::{ConnId, Driver};
use wavetank_measure::ErrorClass;
use wavetank_units::Nanos;
use wavetank_wire::ws::{Client, CloseCode, Operation};

use super::Connections;
use super::events::ConnectionOutcome;
use super::message_intake::{Closing, MessageIntake, message_end};
use super::upgrades::TargetUpgrade;
use crate::conn_io::{ConnIo, ConnIoPool};
use crate::conn_slot::ConnState;
use crate::failure::{self, Failure};
use crate::machine::{Machine, WebSocket};
use crate::recorder::Recorder;
use crate::request_queue::QueuedRequest;

impl<D: Driver> Connections<D> {
    /// Handles a connection of a plan with WebSockets that is ready for its protocol.
    pub(super) fn begin_websocket(&mut self, seat: u32, link: ConnId, at: Nanos, rec: &mut Recorder) {
        let Some(upgrades) = &self.upgrades else { return };
        let target = usize::from(self.seats[seat as usize].target);
        let mut client = Client::new(self.talks.message_limits(), self.talks.draw_seed());
        self.seats[seat as usize].upgraded = false;
        let is_open = match &upgrades.targets[target] {
            TargetUpgrade::Never => {
                if let Some(talk) = &mut self.seats[seat as usize].talk {
                    talk.machine = Machine::http1(self.talks.limits());
                }
                return self.opened(seat, at, rec);
            }
            TargetUpgrade::ByStep => true,
            TargetUpgrade::AtOpening(request) => {
                client.connect(request);
                // If this fails, the driver reports the end of the connection.
                let _ = self.driver.send(link, client.out());
                client.out().clear();
                false
            }
        };
        let talk = self.conversation(seat);
        talk.machine = Machine::WebSocket(Box::new(WebSocket::new(client)));
        (talk.leaving, talk.first_byte) = (false, at);
        if is_open {
            return self.opened(seat, at, rec);
        }
        self.seats[seat as usize].state = ConnState::Greeting;
        self.arm(seat);
    }

    /// Hands a request to a connection that is not HTTP/1.
    #[inline(never)]
    pub(super) fn dispatch_other(&mut self, seat: u32, flight: QueuedRequest, at: Nanos, rec: &mut Recorder) {
        if self.is_http2(seat) {
            return self.dispatch_stream(seat, flight, at);
        }
        let at = self.fresh(at);
        let Self { seats, requests, letters, .. } = self;
        let entry = &mut seats[seat as usize];
        let (Some(link), Some(talk)) = (entry.link, &mut entry.talk) else { return };
        let ConnIo { flights, machine, .. } = &mut **talk;
        let Machine::WebSocket(socket) = machine else { return };
        let WebSocket { client, inbox } = &mut **socket;
        let fixed = &requests.get(flight.scenario, flight.step).bytes;
        let bytes = letters.request(flight.exchange).unwrap_or(fixed);
        let deflater = self.upgrades.as_mut().map(|upgrades| &mut upgrades.deflater);
        let Some(deflater) = deflater else { return };
        match Operation::parse(bytes) {
            Operation::Connect(_) if client.is_websocket() => {
                client.close(CloseCode::NORMAL);
                let _ = self.driver.send(link, client.out());
                client.out().clear();
                // The closed connection is replaced by another one, because a request waits.
                flights.wait(flight);
                return self.end(seat, failure::AFTER_CLOSE, false, at, rec);
            }
            Operation::Connect(request) => client.connect(request),
            _ if !client.is_open() => {
                let failure = Box::new(failure::NOT_UPGRADED);
                self.outcomes.push_back(ConnectionOutcome::Broken(flight.exchange, failure, at));
                return;
            }
            Operation::Send(kind, message) | Operation::Post(kind, message) => {
                client.send(kind, message, deflater);
            }
            Operation::Close(code) => client.close(close_code(code)),
            operation @ (Operation::Wait | Operation::WaitOn) => {
                if operation == Operation::Wait {
                    self.outcomes.push_back(ConnectionOutcome::Sent(flight.exchange, at));
                }
                let Some(message) = inbox.pop() else {
                    flights.push_sent(flight);
                    return self.arm_for(seat, flight.deadline);
                };
                letters.begin_message(flight.exchange, flight.manner);
                if flight.manner.keeps_body() {
                    letters.stream_body(flight.exchange, &message);
                }
                let end = message_end(0, message.len() as u64);
                self.outcomes.push_back(ConnectionOutcome::Answered(flight.exchange, end, at, at));
                return;
            }
        }
        self.send_message(seat, link, flight, at, rec);
    }

    /// Sends what the machine of a WebSocket has written for `flight`.
    fn send_message(
        &mut self,
        seat: u32,
        link: ConnId,
        flight: QueuedRequest,
        at: Nanos,
        rec: &mut Recorder,
    ) {
        let Some(talk) = &mut self.seats[seat as usize].talk else { return };
        let Machine::WebSocket(socket) = &mut talk.machine else { return };
        let is_sent = self.driver.send(link, socket.client.out()).is_ok();
        socket.client.out().clear();
        talk.flights.push_sent(flight);
        if !D::SENDS_LATER {
            self.worked_until = self.clock.now();
            rec.send_call(self.worked_until.since(at));
        }
        if is_sent {
            self.on_send_queued(link, flight.exchange, at);
        } else {
            // The driver reports the end after earlier messages. The end decides about this one.
            self.conversation(seat).flights.refuse();
        }
        if is_sent && flight.manner.is_one_way() {
            return self.hand_over(seat, flight, at);
        }
        self.arm_for(seat, flight.deadline);
    }

    /// Completes a message that awaits no answer, now that it was handed to the driver.
    fn hand_over(&mut self, seat: u32, flight: QueuedRequest, at: Nanos) {
        if D::SENDS_LATER {
            // It is done once the kernel has it. Otherwise the session would wait for the next
            // event of another connection.
            self.flush_all();
        }
        let Some(talk) = &mut self.seats[seat as usize].talk else { return };
        if talk.flights.is_refused() {
            return;
        }
        talk.flights.pop_last_sent();
        let end = message_end(0, 0);
        self.outcomes.push_back(ConnectionOutcome::Answered(flight.exchange, end, at, at));
    }

    /// Handles bytes of a connection that is not HTTP/1.
    #[inline(never)]
    pub(super) fn other_received(
        &mut self,
        seat: u32,
        link: ConnId,
        len: usize,
        at: Nanos,
        rec: &mut Recorder,
    ) {
        if self.is_http2(seat) {
            return self.streams_received(seat, link, len, at, rec);
        }
        let is_ending = self.driver.is_ending(link);
        let Self { seats, letters, outcomes, driver, upgrades, .. } = self;
        let entry = &mut seats[seat as usize];
        let Some(talk) = &mut entry.talk else { return };
        let ConnIo { flights, machine, first_byte, .. } = &mut **talk;
        let Machine::WebSocket(socket) = machine else { return };
        let WebSocket { client, inbox } = &mut **socket;
        let keeps_messages = upgrades.as_ref().is_some_and(|upgrades| upgrades.keeps_messages);
        let is_closing = client.is_closing();
        let mut sink =
            MessageIntake::new(letters, outcomes, (flights, keeps_messages.then_some(inbox)), first_byte, at);
        sink.is_closing = is_closing;
        let read = client.read(driver.received(len), &mut sink);
        let MessageIntake { answered, upgraded, closing, .. } = sink;
        if !client.out().is_empty() {
            // If this fails, the driver reports the end.
            let _ = driver.send(link, client.out());
            client.out().clear();
        }
        entry.upgraded |= upgraded;
        for _ in 0..answered {
            entry.serve();
        }
        if let Err(fault) = read {
            return self.broke_protocol(seat, failure::websocket_failure(fault), at, rec);
        }
        let is_greeting = self.seats[seat as usize].state == ConnState::Greeting;
        match closing {
            Some(Closing::Refused(status)) if is_greeting => {
                let failure = failure::upgrade_refused(status);
                return self.cancel_dial(seat, &failure, self.plan.http.close, at, rec);
            }
            Some(Closing::Refused(_) | Closing::Agreed) => {
                return self.end(seat, failure::AFTER_CLOSE, false, at, rec);
            }
            Some(Closing::ByPeer(failure)) => return self.end(seat, failure, true, at, rec),
            None => {}
        }
        if is_greeting {
            if upgraded {
                self.opened(seat, at, rec);
            }
        } else if !is_ending {
            self.free(seat, at, rec);
        } else if self.seats[seat as usize].sent() == 0 {
            self.end(seat, failure::AFTER_CLOSE, true, at, rec);
        }
    }

    /// Fails the requests in flight on a connection that is not HTTP/1 and has ended with
    /// `failure`. `served`: it had answered a request.
    #[cold]
    pub(super) fn break_other(&mut self, seat: u32, failure: &Failure, served: bool, at: Nanos) {
        if self.is_http2(seat) {
            return self.break_streams(seat, failure, served, at);
        }
        let limits = self.talks.limits();
        let entry = &mut self.seats[seat as usize];
        entry.upgraded = false;
        let Some(talk) = &mut entry.talk else { return };
        while let Some((flight, _)) = talk.flights.pop_cut() {
            let broken = Box::new(Failure { retry: false, ..failure.clone() });
            self.outcomes.push_back(ConnectionOutcome::Broken(flight.exchange, broken, at));
        }
        talk.machine = Machine::http1(limits);
    }

    /// Whether the next answer on this connection is a message that a request waits for without
    /// having sent anything.
    pub(super) fn only_waits(&self, seat: u32) -> bool {
        let talk = self.seats[seat as usize].talk.as_ref();
        talk.and_then(|talk| talk.flights.first_sent()).is_some_and(|flight| flight.manner.only_waits())
    }

    /// Fails a request that waits for a message and has timed out. The WebSocket stays open.
    #[cold]
    pub(super) fn expire_wait(&mut self, seat: u32, now: Nanos, rec: &mut Recorder) {
        let Some(talk) = &mut self.seats[seat as usize].talk else { return };
        if let Some(flight) = talk.flights.pop_sent() {
            let failure = Box::new(Failure::new(ErrorClass::RequestTimeout));
            self.outcomes.push_back(ConnectionOutcome::Broken(flight.exchange, failure, now));
        }
        self.free(seat, now, rec);
    }
}

impl ConnIoPool {
    /// Sends a Close frame on a WebSocket that is closed afterwards.
    #[cold]
    pub(super) fn send_close<D: Driver>(&mut self, talk: Option<&mut ConnIo>, driver: &mut D, link: ConnId) {
        let mut resumed = Client::resume(self.message_limits(), self.draw_seed());
        let client = talk.and_then(|talk| match &mut talk.machine {
            Machine::WebSocket(socket) => Some(&mut socket.client),
            _ => None,
        });
        let client = client.unwrap_or(&mut resumed);
        client.close(CloseCode::NORMAL);
        let _ = driver.send(link, client.out());
        client.out().clear();
    }
}

/// Reads a close code in decimal digits. The plan has checked it.
fn close_code(digits: &[u8]) -> CloseCode {
    str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).map_or(CloseCode::NORMAL, CloseCode)
}
