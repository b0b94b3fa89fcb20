//! Connections that carry several requests in streams of their own: HTTP/2 and HTTP/3.
//!
//! Requests and control frames collect in a connection's buffer during a turn of the load thread
//! and leave together at its end. *Sent* is the instant of that.

use wavetank_driver::{CloseReason, ConnId, Driver, SendStatus};
use wavetank_measure::ErrorClass;
use wavetank_units::Nanos;
use wavetank_wire::h2::Client;
use wavetank_wire::h3;
use wavetank_wire::streams::StreamClient;

use super::events::ConnectionOutcome;
use super::stream_intake::StreamIntake;
use super::{Connections, DeferredSend};
use crate::conn_slot::{ConnState, LastUse};
use crate::failure::{self, Failure};
use crate::machine::{Machine, StreamRequest};
use crate::recorder::Recorder;
use crate::request_queue::QueuedRequest;

/// A buffer for sending keeps at most this much memory.
const IDLE_BYTES_MAX: usize = 64 << 10;

impl<D: Driver> Connections<D> {
    /// Handles a connection that is ready for its protocol: after connecting, the preface and TLS.
    #[inline]
    pub(super) fn established(&mut self, slot: u32, conn: ConnId, at: Nanos, rec: &mut Recorder) {
        if self.upgrades.is_some() {
            self.begin_messages(slot, conn, at, rec);
        } else if self.has_streams {
            self.greet(slot, conn, at, rec);
        } else {
            self.opened(slot, at, rec);
        }
    }

    /// Sends the preface of HTTP/2 or HTTP/3.
    #[cold]
    fn greet(&mut self, slot: u32, conn: ConnId, at: Nanos, rec: &mut Recorder) {
        let secure = self.names[usize::from(self.slots[slot as usize].target)].is_some();
        let limits = self.io_pool.limits();
        let mut client = Box::new(if self.is_quic {
            StreamClient::Http3(h3::Client::new(limits))
        } else {
            StreamClient::Http2(Client::new(limits, secure))
        });
        let is_ready = client.is_ready();
        // If this fails, the driver reports the end of the connection, which is handled there.
        let _ = self.driver.send(conn, client.out());
        client.out().clear();
        self.slots[slot as usize].state = ConnState::Greeting;
        let io = self.io_of(slot);
        (io.machine, io.leaving, io.first_byte) = (Machine::Streams(client), false, at);
        if is_ready {
            return self.opened(slot, at, rec);
        }
        self.arm(slot);
    }

    /// Handles a TLS handshake that did not agree on HTTP/2.
    #[cold]
    pub(super) fn http2_refused(&mut self, slot: u32, at: Nanos, rec: &mut Recorder) {
        self.slots[slot as usize].state = ConnState::Greeting;
        self.cancel_dial(slot, &failure::HTTP2_REFUSED, self.plan.http.close, at, rec);
    }

    /// Handles the end of a connection before the server's settings arrived.
    #[cold]
    pub(super) fn greeting_ended(&mut self, slot: u32, how: CloseReason, at: Nanos, rec: &mut Recorder) {
        let failure = match how {
            CloseReason::Eof | CloseReason::Truncated if self.has_streams => failure::GREETING_CLOSED,
            CloseReason::Eof | CloseReason::Truncated => failure::opening_closed(self.protocol_of(slot)),
            _ => failure::end_failure(how, &self.driver),
        };
        self.cancel_dial(slot, &failure, self.plan.http.close, at, rec);
    }

    /// Whether the requests on the slot's connection are in streams.
    pub(super) fn uses_streams(&self, slot: u32) -> bool {
        self.has_streams && self.slots[slot as usize].io.as_ref().is_some_and(|io| io.machine.has_streams())
    }

    /// Whether the peer has announced that it closes this connection, and nothing is in flight.
    pub(super) fn has_parted(&self, slot: u32) -> bool {
        let Some(io) = self.slots[slot as usize].io.as_ref().filter(|_| self.has_streams) else {
            return false;
        };
        matches!(&io.machine, Machine::Streams(client) if client.is_parting() && client.in_flight() == 0)
    }

    /// Puts a request into the buffer of an open connection.
    pub(super) fn dispatch_stream(&mut self, slot: u32, request: QueuedRequest, at: Nanos) {
        let Self { slots, requests, buffers, .. } = self;
        let Some(io) = &mut slots[slot as usize].io else { return };
        let Machine::Streams(client) = &mut io.machine else { return };
        let (text, repeats) = match buffers.request(request.exchange) {
            None => (&requests.get(request.scenario, request.step).bytes[..], true),
            Some(bytes) => (bytes, false),
        };
        if client.request(StreamRequest::new(request), text, repeats).is_err() {
            let failure = Box::new(failure::NOT_A_REQUEST);
            self.outcomes.push_back(ConnectionOutcome::Broken(request.exchange, failure, at));
            return;
        }
        self.arm_for(slot, request.deadline);
        self.flush_later(slot);
    }

    pub(super) fn flush_later(&mut self, slot: u32) {
        let Some(io) = &mut self.slots[slot as usize].io else { return };
        if !std::mem::replace(&mut io.unflushed, true) {
            self.unflushed.push(slot);
        }
    }

    /// Whether there are bytes to send.
    #[inline]
    pub(crate) const fn has_unflushed(&self) -> bool {
        !self.unflushed.is_empty()
    }

    /// Sends what has collected on all connections. The requests among it are added to `leaving`.
    pub(crate) fn flush_streams(&mut self, rec: &mut Recorder) {
        let mut at = self.driver.now();
        while let Some(slot) = self.unflushed.pop() {
            self.flush_slot(slot, at, rec);
            if !D::SENDS_LATER {
                let sent = self.driver.now();
                rec.send_call(sent.since(at));
                (self.worked_until, at) = (sent, sent);
            }
        }
    }

    fn flush_slot(&mut self, slot: u32, at: Nanos, rec: &mut Recorder) {
        let entry = &mut self.slots[slot as usize];
        let Some(io) = &mut entry.io else { return };
        io.unflushed = false;
        // What an ended connection has left to say does not belong to its successor.
        if !matches!(entry.state, ConnState::Greeting | ConnState::Open) {
            return;
        }
        let (Some(conn), Machine::Streams(client)) = (entry.conn, &mut io.machine) else { return };
        count_messages(client, (entry.phase, entry.target), rec);
        let sent = self.driver.send(conn, client.out());
        client.out().clear();
        client.out().shrink_to(IDLE_BYTES_MAX);
        if sent == Ok(SendStatus::Pending) {
            client.set_blocked(true);
        }
        if sent.is_err() {
            // The driver reports the end after earlier responses. The end decides about these
            // requests.
            io.leaving = true;
            return;
        }
        for stream in client.tags_mut().rev().take_while(|stream| !stream.is_sent()) {
            stream.sent = at;
            self.leaving.push(DeferredSend { conn, exchange: stream.request.exchange, at });
        }
    }

    /// Marks the requests of the last send on `conn` as not sent after all.
    pub(super) fn take_back_streams(&mut self, slot: u32, conn: ConnId) {
        self.leaving.retain(|leaving| leaving.conn != conn);
        let Some(io) = &mut self.slots[slot as usize].io else { return };
        io.leaving = true;
        let Machine::Streams(client) = &mut io.machine else { return };
        let Some(last) = client.tags().map(|stream| stream.sent).max() else { return };
        client
            .tags_mut()
            .rev()
            .filter(|stream| stream.sent == last)
            .for_each(|stream| stream.sent = Nanos::MAX);
    }

    /// Handles what has arrived on a connection with streams.
    pub(super) fn streams_received(
        &mut self,
        slot: u32,
        conn: ConnId,
        len: usize,
        at: Nanos,
        rec: &mut Recorder,
    ) {
        let is_ending = self.driver.is_ending(conn);
        let entry = &mut self.slots[slot as usize];
        let Some(io) = &mut entry.io else { return };
        let Machine::Streams(client) = &mut io.machine else { return };
        let established = io.first_byte;
        if entry.state != ConnState::Greeting {
            io.first_byte = at;
        }
        io.leaving |= is_ending;
        let has_served = entry.last_use == LastUse::Served;
        let (buffers, outcomes) = (&mut self.buffers, &mut self.outcomes);
        let mut sink =
            StreamIntake { buffers, outcomes, at, has_served, answered: 0, is_refused: false, pong: None };
        let input = self.driver.received(len);
        let read = client.read(input, &mut sink);
        let (answered, pong) = (sink.answered, sink.pong);
        io.leaving |= sink.is_refused;
        count_messages(client, (entry.phase, entry.target), rec);
        let (is_ready, has_out) = (client.is_ready(), !client.out().is_empty());
        if read.is_err() {
            // The peer learns the reason, if it still reads.
            let _ = self.driver.send(conn, client.out());
            client.out().clear();
        }
        for _ in 0..answered {
            entry.serve();
        }
        if let Err(fault) = read {
            return self.broke_protocol(slot, failure::http2_failure(fault), at, rec);
        }
        if has_out {
            self.flush_later(slot);
        }
        if self.slots[slot as usize].state == ConnState::Greeting {
            if !is_ready {
                return;
            }
            let entry = &mut self.slots[slot as usize];
            rec.greeted(entry.phase, entry.target, at.since(established));
            if let Some(io) = &mut entry.io {
                io.first_byte = at;
            }
            self.opened(slot, at, rec);
        }
        if let Some(sent) = pong {
            self.pong(slot, sent, at, rec);
        }
        self.after_streams(slot, at, rec);
    }

    /// Ends a connection on which the peer broke the protocol.
    #[cold]
    pub(super) fn broke_protocol(&mut self, slot: u32, failure: Failure, at: Nanos, rec: &mut Recorder) {
        if self.slots[slot as usize].state == ConnState::Greeting {
            return self.cancel_dial(slot, &failure, self.plan.http.close, at, rec);
        }
        self.end(slot, failure, true, at, rec);
    }

    /// Continues after some streams of a connection have ended: closes it if that was the last one
    /// on it, or sends what waits.
    fn after_streams(&mut self, slot: u32, at: Nanos, rec: &mut Recorder) {
        let entry = &self.slots[slot as usize];
        let (ConnState::Open, Some(io)) = (entry.state, &entry.io) else { return };
        let Machine::Streams(client) = &io.machine else { return };
        let is_parting = client.is_parting();
        let is_over = io.leaving || is_parting || entry.left == 0;
        if is_over && client.in_flight() == 0 {
            let lost = io.leaving && !is_parting;
            return self.end(slot, failure::AFTER_CLOSE, lost, at, rec);
        }
        if is_parting {
            return self.part_from_pool(slot, rec);
        }
        self.free(slot, at, rec);
    }

    /// Fails the requests of one connection that have timed out. The connection goes on, unless
    /// nothing arrived on it while the request waited: such a connection gets no further requests.
    pub(super) fn expire_streams(&mut self, slot: u32, now: Nanos, rec: &mut Recorder) {
        let Some(io) = &mut self.slots[slot as usize].io else { return };
        let Machine::Streams(client) = &mut io.machine else { return };
        let mut over = Vec::new();
        client.cancel(|stream| stream.request.deadline <= now, |stream, _| over.push(stream));
        let heard = io.first_byte;
        io.leaving |= over.iter().any(|stream| stream.is_sent() && stream.sent > heard);
        while io.queue.first_waiting().is_some_and(|request| request.deadline <= now) {
            over.extend(io.queue.take_waiting().map(StreamRequest::new));
        }
        for stream in over {
            let failure = Box::new(Failure::new(ErrorClass::RequestTimeout));
            self.outcomes.push_back(ConnectionOutcome::Broken(stream.request.exchange, failure, now));
        }
        self.flush_later(slot);
        self.after_streams(slot, now, rec);
    }

    /// Fails the requests in flight on a connection that has ended with `failure`. `served`: it had
    /// answered a request.
    pub(super) fn break_streams(&mut self, slot: u32, failure: &Failure, served: bool, at: Nanos) {
        let limits = self.io_pool.limits();
        let Some(io) = &mut self.slots[slot as usize].io else { return };
        let outcomes = &mut self.outcomes;
        if let Machine::Streams(client) = &mut io.machine {
            client.cut(|stream, has_begun| {
                let between = failure.peer_closed && !has_begun && served;
                let retry = between && (!stream.is_sent() || stream.request.flags.is_idempotent());
                let broken = if between { failure.clone().between_requests() } else { failure.clone() };
                let broken = Box::new(Failure { retry, ..broken });
                outcomes.push_back(ConnectionOutcome::Broken(stream.request.exchange, broken, at));
            });
        }
        io.machine = Machine::http1(limits);
    }

    /// Sends on the next connection to the target that has room. Returns whether there is one.
    pub(super) fn submit_stream(
        &mut self,
        request: QueuedRequest,
        phase: u16,
        at: Nanos,
        rec: &mut Recorder,
    ) -> bool {
        loop {
            let Some(pool) = &mut self.pool else { return false };
            let Some(slot) = pool.next_with_room(request.target) else { return false };
            if !self.slots[slot as usize].has_room(self.pipeline) {
                pool.unlink(slot, &mut self.slots);
                continue;
            }
            self.slots[slot as usize].phase = phase;
            self.dispatch(slot, request, at, rec);
            if !self.slots[slot as usize].has_room(self.pipeline) {
                self.unlist_full(slot);
            }
            return true;
        }
    }

    /// Removes a connection without room from those that take requests.
    pub(super) fn unlist_full(&mut self, slot: u32) {
        if let Some(pool) = &mut self.pool
            && self.has_streams
        {
            pool.unlink(slot, &mut self.slots);
        }
    }
}

/// Counts the messages of gRPC calls.
#[inline]
fn count_messages(client: &mut StreamClient<StreamRequest>, (phase, target): (u16, u16), rec: &mut Recorder) {
    let messages = client.take_messages();
    if messages != (0, 0) {
        rec.messages(phase, target, messages);
    }
}
