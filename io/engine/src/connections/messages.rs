//! Connections that carry messages: WebSocket, event stream, gRPC call, TCP, UDP. Their requests
//! are in the queue of the connection, as with HTTP/1: a message, and the next message of the
//! server as its answer.

use std::ops::Range;

use wavetank_driver::{CloseReason, ConnId, Driver};
use wavetank_measure::ErrorClass;
use wavetank_plan::UrlProtocol;
use wavetank_units::Nanos;
use wavetank_wire::messages::{MessageClient, Operation, Started};

use super::Connections;
use super::events::ConnectionOutcome;
use super::message_intake::{Closing, MessageIntake};
use super::replies::send_out;
use super::upgrades::TargetUpgrade;
use crate::conn_io::{ConnIo, ConnIoPool};
use crate::conn_slot::{ConnSlot, ConnState, LastUse, SlotIntent};
use crate::failure::{self, Failure};
use crate::machine::{Machine, MessageConn};
use crate::recorder::Recorder;

impl<D: Driver> Connections<D> {
    /// Handles a connection of a plan with messages that is ready for its protocol.
    pub(super) fn begin_messages(&mut self, slot: u32, conn: ConnId, at: Nanos, rec: &mut Recorder) {
        let Some(upgrades) = &self.upgrades else { return };
        let target = usize::from(self.slots[slot as usize].target);
        self.slots[slot as usize].parked = None;
        let (protocol, request) = match &upgrades.targets[target] {
            TargetUpgrade::Never => {
                if let Some(io) = &mut self.slots[slot as usize].io {
                    io.machine = Machine::http1(self.io_pool.limits());
                }
                return self.opened(slot, at, rec);
            }
            TargetUpgrade::ByStep(protocol) => (*protocol, None),
            TargetUpgrade::AtOpening(protocol, request) => (*protocol, Some(request)),
        };
        let mut client = self.io_pool.message_client(protocol);
        let mut is_open = true;
        if let Some(request) = request {
            let last_id = self.io_pool.last_id(slot);
            is_open = client.start(Operation::Connect(request), &mut None, last_id) != Started::Sends;
            send_out(&mut self.driver, conn, &mut client);
        }
        let machine = self.io_pool.message_machine(client);
        let io = self.io_of(slot);
        io.machine = machine;
        (io.leaving, io.first_byte) = (false, at);
        if is_open {
            return self.opened(slot, at, rec);
        }
        self.slots[slot as usize].state = ConnState::Greeting;
        self.arm(slot);
    }

    /// Returns the protocol of a slot's target in a plan with messages.
    pub(super) fn protocol_of(&self, slot: u32) -> UrlProtocol {
        let target = self.slots[slot as usize].target;
        self.upgrades.as_ref().map_or(UrlProtocol::Http, |upgrades| upgrades.protocol(target))
    }

    /// Handles bytes of a connection that is not HTTP/1.
    #[inline(never)]
    pub(super) fn other_received(
        &mut self,
        slot: u32,
        conn: ConnId,
        len: usize,
        at: Nanos,
        rec: &mut Recorder,
    ) {
        if self.uses_streams(slot) {
            return self.streams_received(slot, conn, len, at, rec);
        }
        let is_ending = self.driver.is_ending(conn);
        if !self.read_messages(slot, conn, 0..len, at, rec) {
            return;
        }
        if !is_ending {
            self.free(slot, at, rec);
        } else if self.slots[slot as usize].sent() == 0 {
            self.end_by_peer(slot, failure::AFTER_CLOSE, at, rec);
        }
    }

    /// Reads this part of the bytes that were received, or only what arrived before. Returns
    /// whether the connection is open and was open before.
    pub(super) fn read_messages(
        &mut self,
        slot: u32,
        conn: ConnId,
        range: Range<usize>,
        at: Nanos,
        rec: &mut Recorder,
    ) -> bool {
        self.prepare_read(slot, conn);
        let Self { slots, buffers, outcomes, driver, io_pool, .. } = self;
        let entry = &mut slots[slot as usize];
        let Some(io) = &mut entry.io else { return false };
        let ConnIo { queue, machine, first_byte, .. } = &mut **io;
        let Machine::Messages(own) = machine else { return false };
        let MessageConn { client, inbox, .. } = &mut **own;
        let inbox = io_pool.keeps_messages().then_some(inbox);
        let (is_closing, established) = (client.is_closing(), *first_byte);
        let mut sink = MessageIntake::new(buffers, outcomes, (queue, inbox), first_byte, at);
        sink.is_closing = is_closing;
        let input = if range.is_empty() { &[] } else { &driver.received(range.end)[range.start..] };
        let read = client.read(input, &mut sink);
        let MessageIntake { answered, upgraded, closing, received, pong, .. } = sink;
        send_out(driver, conn, client);
        let (phase, target) = (entry.phase, entry.target);
        if received > 0 {
            rec.messages(phase, target, (0, received));
        }
        let mut may_serve = true;
        for _ in 0..answered {
            may_serve = entry.serve();
        }
        if let Err(fault) = read {
            self.broke_protocol(slot, failure::message_failure(fault), at, rec);
            return false;
        }
        if let Some(sent) = pong {
            self.pong(slot, sent, at, rec);
        }
        let is_greeting = self.slots[slot as usize].state == ConnState::Greeting;
        if is_greeting && upgraded {
            rec.greeted(phase, target, at.since(established));
            // Even if the same bytes end it: what waits for the connection must learn of both.
            self.opened(slot, at, rec);
        }
        if self.slots[slot as usize].conn != Some(conn) {
            // Its owner has left meanwhile.
            return false;
        }
        match closing {
            Some(Closing::Refused(status)) if is_greeting => {
                let failure = failure::opening_refused(self.protocol_of(slot), status);
                self.cancel_dial(slot, &failure, self.plan.http.close, at, rec);
                false
            }
            Some(Closing::ByPeer(failure)) if is_greeting && !upgraded => {
                self.cancel_dial(slot, &failure, self.plan.http.close, at, rec);
                false
            }
            Some(Closing::ByPeer(failure)) => {
                self.end_by_peer(slot, failure, at, rec);
                false
            }
            None if may_serve || self.slots[slot as usize].sent() > 0 => !is_greeting,
            Some(Closing::Refused(_) | Closing::Agreed) | None => {
                self.end(slot, failure::AFTER_CLOSE, false, at, rec);
                false
            }
        }
    }

    /// Prepares for bytes of a connection.
    fn prepare_read(&mut self, slot: u32, conn: ConnId) {
        self.refresh_phase(slot);
        if D::SENDS_LATER && !self.leaving.is_empty() {
            // What arrives may answer a request that was handed over in this turn. It must have
            // been sent before.
            self.flush_conn(conn);
        }
    }

    /// Closes a connection that the peer has ended with `failure`, unless a step may read what has
    /// arrived before.
    fn end_by_peer(&mut self, slot: u32, failure: Failure, at: Nanos, rec: &mut Recorder) {
        if !self.keep_unread(slot, &failure) {
            self.end(slot, failure, true, at, rec);
        }
    }

    /// Whether what has arrived on a connection can still be read after this end. A connection that
    /// is kept for that may also break afterwards.
    pub(super) fn outlives_end(&self, slot: u32, how: CloseReason) -> bool {
        let io = self.slots[slot as usize].io.as_deref();
        matches!(how, CloseReason::Eof | CloseReason::Truncated)
            || io.is_some_and(|io| matches!(&io.machine, Machine::Messages(own) if own.end.is_some()))
    }

    /// Keeps a connection that the peer has ended with `failure` for the steps that read what has
    /// arrived before. Returns whether there is something to read.
    pub(super) fn keep_unread(&mut self, slot: u32, failure: &Failure) -> bool {
        let entry = &mut self.slots[slot as usize];
        let is_own = entry.intent == SlotIntent::None && !entry.is_pooled() && entry.state == ConnState::Open;
        let Some(io) = entry.io.as_mut().filter(|io| is_own && io.queue.is_empty()) else { return false };
        let Machine::Messages(own) = &mut io.machine else { return false };
        if own.has_unread() {
            own.end.get_or_insert_with(|| failure.clone());
        }
        own.end.is_some()
    }

    /// Closes a connection that the peer has ended, unless there is more to read and no request
    /// waits.
    #[cold]
    pub(super) fn end_read(&mut self, slot: u32, at: Nanos, rec: &mut Recorder) {
        let Some(io) = &mut self.slots[slot as usize].io else { return };
        let Machine::Messages(own) = &mut io.machine else { return };
        if io.queue.is_empty() && own.has_unread() {
            return;
        }
        let Some(failure) = own.end.take() else { return };
        if !self.messages_ended(slot, at, rec) {
            self.end(slot, failure, true, at, rec);
        }
    }

    /// Handles the end of what the server sends. Returns whether it completed an answer, and the
    /// connection was closed after it.
    #[cold]
    pub(super) fn messages_ended(&mut self, slot: u32, at: Nanos, rec: &mut Recorder) -> bool {
        let Self { slots, buffers, outcomes, io_pool, .. } = self;
        let Some(io) = &mut slots[slot as usize].io else { return false };
        let ConnIo { queue, machine, first_byte, .. } = &mut **io;
        let Machine::Messages(own) = machine else { return false };
        let MessageConn { client, inbox, .. } = &mut **own;
        let inbox = io_pool.keeps_messages().then_some(inbox);
        let mut sink = MessageIntake::new(buffers, outcomes, (queue, inbox), first_byte, at);
        if !client.end(&mut sink) {
            return false;
        }
        let entry = &mut self.slots[slot as usize];
        rec.messages(entry.phase, entry.target, (0, 1));
        entry.serve();
        self.end(slot, failure::AFTER_CLOSE, false, at, rec);
        true
    }

    /// Fails the requests in flight on a connection that is not HTTP/1 and has ended with
    /// `failure`. `served`: it had answered a request.
    #[cold]
    pub(super) fn break_other(&mut self, slot: u32, failure: &Failure, served: bool, at: Nanos) {
        if self.uses_streams(slot) {
            return self.break_streams(slot, failure, served, at);
        }
        let limits = self.io_pool.limits();
        let entry = &mut self.slots[slot as usize];
        let Some(io) = &mut entry.io else { return };
        if let Machine::Messages(own) = &io.machine {
            let last_id = if entry.last_use == LastUse::Lost { own.client.last_id() } else { b"" };
            self.io_pool.keep_last_id(slot, last_id);
        }
        while let Some((request, _)) = io.queue.pop_cut() {
            let broken = Box::new(Failure { retry: false, ..failure.clone() });
            self.outcomes.push_back(ConnectionOutcome::Broken(request.exchange, broken, at));
        }
        io.machine = Machine::http1(limits);
    }

    /// Whether the connection stays open after its request has timed out: the request waits for a
    /// message without having sent anything, or it is a datagram, which may be lost.
    pub(super) fn survives_timeout(&self, slot: u32) -> bool {
        let Some(io) = &self.slots[slot as usize].io else { return false };
        let is_datagrams = match &io.machine {
            Machine::Messages(own) => matches!(own.client, MessageClient::Datagrams(_)),
            _ => false,
        };
        io.queue.first_sent().is_some_and(|request| is_datagrams || request.flags.only_waits())
    }

    /// Fails a request that has timed out. The connection stays open.
    #[cold]
    pub(super) fn expire_wait(&mut self, slot: u32, now: Nanos, rec: &mut Recorder) {
        let Some(io) = &mut self.slots[slot as usize].io else { return };
        if let Machine::Messages(own) = &mut io.machine {
            own.client.stop_waiting();
        }
        if let Some(request) = io.queue.pop_sent() {
            let failure = Box::new(Failure::new(ErrorClass::RequestTimeout));
            self.outcomes.push_back(ConnectionOutcome::Broken(request.exchange, failure, now));
        }
        self.free(slot, now, rec);
    }
}

impl ConnIoPool {
    /// Sends what a client sends before it closes the connection of `entry`.
    #[cold]
    pub(super) fn leave<D: Driver>(&mut self, slot: u32, entry: &mut ConnSlot, driver: &mut D, conn: ConnId) {
        let parked = entry.parked;
        let mut resumed = || parked.map(|parked| self.resume(slot, parked));
        match entry.io.as_deref_mut() {
            Some(ConnIo { machine: Machine::Messages(own), .. }) => {
                own.client.leave();
                send_out(driver, conn, &mut own.client);
            }
            Some(_) => {}
            None => {
                if let Some(mut client) = resumed() {
                    client.leave();
                    send_out(driver, conn, &mut client);
                }
            }
        }
    }
}
