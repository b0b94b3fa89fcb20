//! Connections that carry messages: WebSocket, event stream, gRPC call, TCP, UDP. Their requests
//! are in the queue of the connection, as with HTTP/1: a message, and the next message of the
//! server as its answer.

use wavetank_driver::{ConnId, Driver};
use wavetank_measure::ErrorClass;
use wavetank_plan::UrlProtocol;
use wavetank_units::Nanos;
use wavetank_wire::messages::{MessageClient, Operation, Started};

use super::Connections;
use super::events::ConnectionOutcome;
use super::message_intake::{Closing, MessageIntake, begin_call_answer, keep_message, message_end};
use super::upgrades::TargetUpgrade;
use crate::conn_io::{ConnIo, ConnIoPool};
use crate::conn_slot::{ConnSlot, ConnState, LastUse};
use crate::failure::{self, Failure};
use crate::machine::{Machine, MessageConn};
use crate::recorder::Recorder;
use crate::request_queue::QueuedRequest;

impl<D: Driver> Connections<D> {
    /// Handles a connection of a plan with messages that is ready for its protocol.
    pub(super) fn begin_messages(&mut self, seat: u32, link: ConnId, at: Nanos, rec: &mut Recorder) {
        let Some(upgrades) = &self.upgrades else { return };
        let target = usize::from(self.seats[seat as usize].target);
        self.seats[seat as usize].parked = None;
        let (protocol, request) = match &upgrades.targets[target] {
            TargetUpgrade::Never => {
                if let Some(talk) = &mut self.seats[seat as usize].talk {
                    talk.machine = Machine::http1(self.talks.limits());
                }
                return self.opened(seat, at, rec);
            }
            TargetUpgrade::ByStep(protocol) => (*protocol, None),
            TargetUpgrade::AtOpening(protocol, request) => (*protocol, Some(request)),
        };
        let mut client = self.talks.message_client(protocol);
        let mut is_open = true;
        if let Some(request) = request {
            let last_id = self.talks.last_id(seat);
            is_open = client.start(Operation::Connect(request), &mut None, last_id) != Started::Sends;
            send_out(&mut self.driver, link, &mut client);
        }
        let talk = self.conversation(seat);
        talk.machine = Machine::Messages(Box::new(MessageConn::new(client)));
        (talk.leaving, talk.first_byte) = (false, at);
        if is_open {
            return self.opened(seat, at, rec);
        }
        self.seats[seat as usize].state = ConnState::Greeting;
        self.arm(seat);
    }

    /// Returns the protocol of a slot's target in a plan with messages.
    pub(super) fn protocol_of(&self, seat: u32) -> UrlProtocol {
        let target = self.seats[seat as usize].target;
        self.upgrades.as_ref().map_or(UrlProtocol::Http, |upgrades| upgrades.protocol(target))
    }

    /// Hands a request to a connection that is not HTTP/1.
    #[inline(never)]
    pub(super) fn dispatch_other(&mut self, seat: u32, flight: QueuedRequest, at: Nanos, rec: &mut Recorder) {
        if self.uses_streams(seat) {
            return self.dispatch_stream(seat, flight, at);
        }
        let at = self.fresh(at);
        let Self { seats, requests, letters, talks, upgrades, .. } = self;
        let entry = &mut seats[seat as usize];
        let (Some(link), Some(talk), Some(upgrades)) = (entry.link, &mut entry.talk, upgrades) else {
            return;
        };
        let Machine::Messages(own) = &mut talk.machine else { return };
        let fixed = &requests.get(flight.scenario, flight.step).bytes;
        let operation = Operation::parse(letters.request(flight.exchange).unwrap_or(fixed));
        let goes_on = operation == Operation::WaitOn;
        let is_call = matches!(&own.client, MessageClient::Call(_));
        let is_message = matches!(operation, Operation::Send(..) | Operation::Post(..) | Operation::Ask(..));
        let has_whole_answer = is_call && matches!(operation, Operation::Connect(_) | Operation::Close(_));
        let started = own.client.start(operation, &mut upgrades.deflater, talks.last_id(seat));
        if has_whole_answer && started == Started::Sends {
            begin_call_answer(letters, flight, &mut own.inbox);
        }
        match started {
            Started::NeedsNewConnection => {
                send_out(&mut self.driver, link, &mut own.client);
                // The closed connection is replaced by another one, because a request waits.
                talk.flights.wait(flight);
                self.end(seat, failure::AFTER_CLOSE, false, at, rec);
                self.talks.forget_last_id(seat);
            }
            Started::NotOpen => {
                let failure = Box::new(failure::not_open(self.protocol_of(seat)));
                self.outcomes.push_back(ConnectionOutcome::Broken(flight.exchange, failure, at));
            }
            Started::Refused(fault) => {
                let failure = Box::new(failure::unsendable(fault));
                self.outcomes.push_back(ConnectionOutcome::Broken(flight.exchange, failure, at));
            }
            started @ (Started::Done | Started::Closes) => {
                self.outcomes.push_back(ConnectionOutcome::Sent(flight.exchange, at));
                let end = message_end(0, 0);
                self.outcomes.push_back(ConnectionOutcome::Answered(flight.exchange, end, at, at));
                if started == Started::Closes {
                    self.end(seat, failure::AFTER_CLOSE, false, at, rec);
                    self.talks.forget_last_id(seat);
                }
            }
            Started::Waits => {
                if !goes_on {
                    self.outcomes.push_back(ConnectionOutcome::Sent(flight.exchange, at));
                }
                self.wait_for_message(seat, link, flight, at, rec);
            }
            Started::Sends => {
                if is_message {
                    let entry = &self.seats[seat as usize];
                    rec.messages(entry.phase, entry.target, (1, 0));
                }
                self.send_message(seat, link, flight, at, rec);
            }
        }
    }

    /// Answers a request with a message that has arrived, or lets it wait for the next one.
    fn wait_for_message(
        &mut self,
        seat: u32,
        link: ConnId,
        flight: QueuedRequest,
        at: Nanos,
        rec: &mut Recorder,
    ) {
        let Self { seats, letters, outcomes, .. } = self;
        let Some(talk) = &mut seats[seat as usize].talk else { return };
        let Machine::Messages(own) = &mut talk.machine else { return };
        let Some(message) = own.inbox.pop() else {
            talk.flights.push_sent(flight);
            self.arm_for(seat, flight.deadline);
            return self.read_early_answer(seat, link, at, rec);
        };
        keep_message(letters, flight, &message);
        let end = message_end(0, message.body.len() as u64);
        outcomes.push_back(ConnectionOutcome::Answered(flight.exchange, end, at, at));
    }

    /// Answers a request with bytes of a TCP connection that have arrived before it.
    fn read_early_answer(&mut self, seat: u32, link: ConnId, at: Nanos, rec: &mut Recorder) {
        let talk = self.seats[seat as usize].talk.as_deref();
        let has_unread = talk.is_some_and(|talk| match &talk.machine {
            Machine::Messages(own) => own.client.has_unread(),
            _ => false,
        });
        if has_unread {
            self.read_messages(seat, link, 0, at, rec);
        }
    }

    /// Sends what the machine has written for `flight`.
    fn send_message(
        &mut self,
        seat: u32,
        link: ConnId,
        flight: QueuedRequest,
        at: Nanos,
        rec: &mut Recorder,
    ) {
        let Some(talk) = &mut self.seats[seat as usize].talk else { return };
        let Machine::Messages(own) = &mut talk.machine else { return };
        let is_sent = self.driver.send(link, own.client.out()).is_ok();
        own.client.out().clear();
        talk.flights.push_sent(flight);
        if !D::SENDS_LATER {
            self.worked_until = self.driver.now();
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
        if is_sent {
            self.read_early_answer(seat, link, at, rec);
        }
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
        if self.uses_streams(seat) {
            return self.streams_received(seat, link, len, at, rec);
        }
        let is_ending = self.driver.is_ending(link);
        if !self.read_messages(seat, link, len, at, rec) {
            return;
        }
        if !is_ending {
            self.free(seat, at, rec);
        } else if self.seats[seat as usize].sent() == 0 {
            self.end(seat, failure::AFTER_CLOSE, true, at, rec);
        }
    }

    /// Reads the `len` bytes that were received, or only what arrived before. Returns whether the
    /// connection is open and was open before.
    fn read_messages(&mut self, seat: u32, link: ConnId, len: usize, at: Nanos, rec: &mut Recorder) -> bool {
        if D::SENDS_LATER && !self.leaving.is_empty() {
            // What arrives may answer a request that was handed over in this turn. It must have
            // been sent before.
            self.flush_conn(link);
        }
        let Self { seats, letters, outcomes, driver, talks, .. } = self;
        let entry = &mut seats[seat as usize];
        let Some(talk) = &mut entry.talk else { return false };
        let ConnIo { flights, machine, first_byte, .. } = &mut **talk;
        let Machine::Messages(own) = machine else { return false };
        let MessageConn { client, inbox } = &mut **own;
        let inbox = talks.keeps_messages().then_some(inbox);
        let (is_closing, established) = (client.is_closing(), *first_byte);
        let mut sink = MessageIntake::new(letters, outcomes, (flights, inbox), first_byte, at);
        sink.is_closing = is_closing;
        let read = client.read(if len == 0 { &[] } else { driver.received(len) }, &mut sink);
        let MessageIntake { answered, upgraded, closing, received, pong, .. } = sink;
        send_out(driver, link, client);
        let (phase, target) = (entry.phase, entry.target);
        if received > 0 {
            rec.messages(phase, target, (0, received));
        }
        for _ in 0..answered {
            entry.serve();
        }
        if let Err(fault) = read {
            self.broke_protocol(seat, failure::message_failure(fault), at, rec);
            return false;
        }
        if let Some(sent) = pong {
            self.pong(seat, sent, at, rec);
        }
        let is_greeting = self.seats[seat as usize].state == ConnState::Greeting;
        if is_greeting && upgraded {
            rec.greeted(phase, target, at.since(established));
            // Even if the same bytes end it: what waits for the connection must learn of both.
            self.opened(seat, at, rec);
        }
        match closing {
            Some(Closing::Refused(status)) if is_greeting => {
                let failure = failure::opening_refused(self.protocol_of(seat), status);
                self.cancel_dial(seat, &failure, self.plan.http.close, at, rec);
                return false;
            }
            Some(Closing::Refused(_) | Closing::Agreed) => {
                self.end(seat, failure::AFTER_CLOSE, false, at, rec);
                return false;
            }
            Some(Closing::ByPeer(failure)) if is_greeting && !upgraded => {
                self.cancel_dial(seat, &failure, self.plan.http.close, at, rec);
                return false;
            }
            Some(Closing::ByPeer(failure)) => {
                self.end(seat, failure, true, at, rec);
                return false;
            }
            None => {}
        }
        !is_greeting
    }

    /// Handles the end of what the server sends. Returns whether it completed an answer, and the
    /// connection was closed after it.
    #[cold]
    pub(super) fn messages_ended(&mut self, seat: u32, at: Nanos, rec: &mut Recorder) -> bool {
        let Self { seats, letters, outcomes, .. } = self;
        let Some(talk) = &mut seats[seat as usize].talk else { return false };
        let ConnIo { flights, machine, first_byte, .. } = &mut **talk;
        let Machine::Messages(own) = machine else { return false };
        let mut sink = MessageIntake::new(letters, outcomes, (flights, None), first_byte, at);
        if !own.client.end(&mut sink) {
            return false;
        }
        let entry = &mut self.seats[seat as usize];
        rec.messages(entry.phase, entry.target, (0, 1));
        entry.serve();
        self.end(seat, failure::AFTER_CLOSE, false, at, rec);
        true
    }

    /// Fails the requests in flight on a connection that is not HTTP/1 and has ended with
    /// `failure`. `served`: it had answered a request.
    #[cold]
    pub(super) fn break_other(&mut self, seat: u32, failure: &Failure, served: bool, at: Nanos) {
        if self.uses_streams(seat) {
            return self.break_streams(seat, failure, served, at);
        }
        let limits = self.talks.limits();
        let entry = &mut self.seats[seat as usize];
        let Some(talk) = &mut entry.talk else { return };
        if let Machine::Messages(own) = &talk.machine {
            let last_id = if entry.past == LastUse::Lost { own.client.last_id() } else { b"" };
            self.talks.keep_last_id(seat, last_id);
        }
        while let Some((flight, _)) = talk.flights.pop_cut() {
            let broken = Box::new(Failure { retry: false, ..failure.clone() });
            self.outcomes.push_back(ConnectionOutcome::Broken(flight.exchange, broken, at));
        }
        talk.machine = Machine::http1(limits);
    }

    /// Whether the connection stays open after its request has timed out: the request waits for a
    /// message without having sent anything, or it is a datagram, which may be lost.
    pub(super) fn survives_timeout(&self, seat: u32) -> bool {
        let Some(talk) = &self.seats[seat as usize].talk else { return false };
        let is_datagrams = match &talk.machine {
            Machine::Messages(own) => matches!(own.client, MessageClient::Datagrams(_)),
            _ => false,
        };
        talk.flights.first_sent().is_some_and(|flight| is_datagrams || flight.manner.only_waits())
    }

    /// Fails a request that has timed out. The connection stays open.
    #[cold]
    pub(super) fn expire_wait(&mut self, seat: u32, now: Nanos, rec: &mut Recorder) {
        let Some(talk) = &mut self.seats[seat as usize].talk else { return };
        if let Machine::Messages(own) = &mut talk.machine {
            own.client.stop_waiting();
        }
        if let Some(flight) = talk.flights.pop_sent() {
            let failure = Box::new(Failure::new(ErrorClass::RequestTimeout));
            self.outcomes.push_back(ConnectionOutcome::Broken(flight.exchange, failure, now));
        }
        self.free(seat, now, rec);
    }
}

impl ConnIoPool {
    /// Sends what a client sends before it closes the connection of `entry`.
    #[cold]
    pub(super) fn leave<D: Driver>(&mut self, seat: u32, entry: &mut ConnSlot, driver: &mut D, link: ConnId) {
        let parked = entry.parked;
        let mut resumed = || parked.map(|parked| self.resume(seat, parked));
        match entry.talk.as_deref_mut() {
            Some(ConnIo { machine: Machine::Messages(own), .. }) => {
                own.client.leave();
                send_out(driver, link, &mut own.client);
            }
            Some(_) => {}
            None => {
                if let Some(mut client) = resumed() {
                    client.leave();
                    send_out(driver, link, &mut client);
                }
            }
        }
    }
}

/// Sends what the machine has written by itself.
fn send_out<D: Driver>(driver: &mut D, link: ConnId, client: &mut MessageClient) {
    if !client.out().is_empty() {
        // If this fails, the driver reports the end of the connection.
        let _ = driver.send(link, client.out());
        client.out().clear();
    }
}
