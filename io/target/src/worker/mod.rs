//! [`Worker`]: one thread of the server.

mod ending;
mod messages;
mod secured;
mod sending;
mod shop_responses;
mod streams;

use std::collections::VecDeque;
use std::sync::Arc;

use wavetank_driver::{
    Clock, CloseReason, ConnId, Driver, DriverConfig, Event, ListenerId, SendStatus, fine_timers,
};
use wavetank_pace::Timers;
use wavetank_plan::Close;
use wavetank_shop::ShopClient;
use wavetank_units::Nanos;
use wavetank_wire::h3::records::stream_bytes;
use wavetank_wire::ws::Deflater;

use crate::answer::Response;
use crate::connection::{AfterLast, CountedAs, ReadMode};
use crate::connections::Connections;
use crate::filler::filler;
use crate::handshake::Handshake;
use crate::outbox::Outbox;
use crate::paths::PathCache;
use crate::request_cache::RequestCache;
use crate::request_handler::RequestHandler;
use crate::serve_options::ServeOptions;
use crate::shared::Shared;
use crate::truth::{CloseKind, Counts};
use messages::{Remaining, take_messages};
use sending::{Done, render_owed, send_body};

/// Events handled in one turn, before requests for the counts are answered.
const EVENTS_PER_TURN: usize = 64;
/// Events that share one timestamp if all were there when the wait ended. A timestamp for each
/// event would include the time of answering the earlier ones.
const EVENTS_PER_STAMP: usize = 8;
/// How long a client may go on sending after its last response.
const LINGER: Nanos = Nanos::SECOND;

/// One thread of the server: its clients, and what it needs to answer them.
pub(crate) struct Worker<D> {
    driver: D,
    shared: Arc<Shared>,
    clock: Clock,
    /// Time of the last event, or of the turn if its events share one timestamp.
    now: Nanos,
    connections: Connections,
    timers: Timers<ConnId>,
    /// Earliest time of a timer.
    next_timer: Nanos,
    /// Clients with a long body that can be sent further without waiting.
    runnable: VecDeque<ConnId>,
    /// Clients that are due a response about the counts, or a reset of them.
    control: Vec<ConnId>,
    outbox: Outbox,
    paths: PathCache,
    known: RequestCache,
    teller: ShopClient,
    /// Compresses messages of WebSockets.
    deflater: Option<Box<Deflater>>,
    /// Whether clients use TLS.
    tls: bool,
    /// The listeners of raw TCP.
    raw_listeners: Vec<ListenerId>,
    /// What they send first.
    greeting: Arc<[u8]>,
}

impl<D: Driver> Worker<D> {
    /// Creates the worker of one thread on `driver`, which is listening already.
    pub(crate) fn new(
        driver: D,
        shared: Arc<Shared>,
        setup: &DriverConfig,
        options: &ServeOptions,
        thread: u32,
        raw_listeners: Vec<ListenerId>,
    ) -> Self {
        let clock = shared.clock;
        let shop = Arc::clone(&shared.shop);
        Self {
            driver,
            shared,
            clock,
            now: clock.now(),
            connections: Connections::with_capacity(setup.sockets as usize),
            timers: Timers::new(),
            next_timer: Nanos::MAX,
            runnable: VecDeque::new(),
            control: Vec::new(),
            outbox: Outbox::new(clock),
            paths: PathCache::new(options.any, shop.pools()),
            known: RequestCache::default(),
            teller: ShopClient::new(shop, thread, filler()),
            deflater: None,
            tls: options.tls.is_some(),
            raw_listeners,
            greeting: Arc::clone(&options.tcp_greeting),
        }
    }

    /// Serves until the server stops, or until waiting for events fails. `counts` are those of this
    /// thread.
    pub(crate) fn run(mut self, counts: &Counts) {
        fine_timers();
        while !self.shared.is_stopping() {
            let waits = self.runnable.is_empty() && self.teller.is_idle();
            let until = if waits { self.next_timer } else { Nanos(i64::MIN) };
            if let Err(errno) = self.driver.wait(until) {
                return self.shared.failed(errno);
            }
            self.turn(counts);
            if !self.teller.is_idle() {
                self.deliver(counts);
            }
            self.teller.end_turn();
            while let Some(id) = self.control.pop() {
                self.answer_control(id, counts);
            }
        }
        self.end(counts);
    }

    fn turn(&mut self, counts: &Counts) {
        counts.follow(self.shared.epoch());
        self.now = self.clock.now();
        self.outbox.refresh_date(self.now);
        for _ in 0..self.runnable.len() {
            let Some(id) = self.runnable.pop_front() else { break };
            if let Some(connection) = self.connections.get(id) {
                connection.runnable = false;
                self.advance(id, counts);
            }
        }
        for handled in 0..EVENTS_PER_TURN {
            if D::REPORTED_BY_WAIT && handled % EVENTS_PER_STAMP == EVENTS_PER_STAMP - 1 {
                self.now = self.clock.now();
            }
            if self.next_timer <= self.now {
                self.fire_timers(counts);
            }
            let Some(event) = self.driver.next() else { break };
            self.handle(event, counts);
        }
        if self.next_timer <= self.now {
            self.fire_timers(counts);
        }
    }

    #[inline]
    fn handle(&mut self, event: Event, counts: &Counts) {
        // Events after a reset must be counted after it, even within the same turn.
        counts.follow(self.shared.epoch());
        match event {
            Event::Received(id, len) => self.received(id, len, counts),
            Event::Accepted(listener, id) => {
                counts.accepted.add(1);
                counts.opened();
                self.connections.insert(id);
                if self.raw_listeners.contains(&listener) {
                    self.accepted_raw(id, counts);
                }
            }
            Event::Flushed(id) => {
                if let Some(connection) = self.connections.get(id) {
                    connection.pending = false;
                    self.advance(id, counts);
                }
            }
            // QUIC ends both directions.
            Event::Ended(id, CloseReason::Eof | CloseReason::Truncated) if D::HAS_RECORDS => {
                let closes = self.connections.get(id).is_some_and(|one| one.then != AfterLast::Go);
                self.close(id, if closes { CloseKind::Closed } else { CloseKind::Finished }, counts);
            }
            // Complete requests are answered, however the client ends.
            Event::Ended(id, CloseReason::Eof | CloseReason::Truncated) => {
                if let Some(connection) = self.connections.get(id) {
                    connection.peer_done = true;
                    self.advance(id, counts);
                }
            }
            Event::Ended(id, CloseReason::Broken(_) | CloseReason::Tls | CloseReason::Stream) => {
                if let Some(connection) = self.connections.get(id)
                    && self.tls
                    && connection.handshake == Handshake::None
                {
                    counts.failed_handshakes.add(1);
                }
                self.close(id, CloseKind::Broken, counts);
            }
            Event::AcceptFailed(_, why) => counts.not_accepted(why),
            Event::Secured(id) => self.secured(id, counts),
            // Woken to stop, which is checked at the end of the turn, or by returned jobs.
            Event::Woken => self.teller.collect(),
            // A server opens no connections.
            Event::Connected(_) | Event::ConnectFailed(..) => {}
        }
    }

    #[inline]
    fn received(&mut self, id: ConnId, len: usize, counts: &Counts) {
        let Some(connection) = self.connections.get(id) else { return };
        if !D::REPORTED_BY_WAIT {
            self.now = self.clock.now();
        }
        counts.bytes_received.add(if D::HAS_RECORDS {
            stream_bytes(self.driver.received(len))
        } else {
            len as u64
        });
        if connection.reading == ReadMode::Requests {
            if connection.carries_messages() {
                return self.received_messages(id, len, counts);
            }
            if connection.uses_streams(|| self.driver.received(len)) {
                return self.received_streams(id, len, counts);
            }
            let mut clerk = RequestHandler {
                paths: &mut self.paths,
                known: &mut self.known,
                counts,
                outbox: &mut self.outbox,
                freeze: &self.shared.freeze,
                teller: &mut self.teller,
                now: self.now,
            };
            clerk.read(connection, self.driver.received(len));
            self.advance(id, counts);
        }
    }

    /// Sends the contents of the outbox, then gives as many pending responses as possible, and
    /// handles the end of the connection after the last one.
    #[inline]
    fn advance(&mut self, id: ConnId, counts: &Counts) {
        let Some(connection) = self.connections.get(id) else { return };
        if connection.has_streams() {
            return self.advance_streams(id, counts);
        }
        let done = loop {
            let remaining =
                take_messages(connection, &mut self.outbox, &self.shared.freeze, self.now, counts);
            if !self.outbox.out.is_empty() {
                // Counted before sending: a client that has the bytes may immediately ask another
                // thread for the counts.
                counts.bytes_sent.add(self.outbox.out.len() as u64);
                let sent = self.driver.send(id, &self.outbox.out);
                self.outbox.out.clear();
                match sent {
                    Ok(SendStatus::All) => {}
                    Ok(SendStatus::Pending) => connection.pending = true,
                    Err(_) => break Done::Broken,
                }
            }
            if connection.pending {
                break Done::Waiting;
            }
            if connection.owed.is_empty() && connection.body_left == 0 {
                match remaining {
                    Remaining::Nothing => break Done::Clear,
                    Remaining::At(next) if next > self.now => break Done::Later(next),
                    Remaining::At(_) => continue,
                    Remaining::Some => {}
                }
            }
            // During a freeze, only bytes that the kernel has already are transmitted.
            if let Some(end) = self.shared.freeze.frozen_until(self.now) {
                break Done::Later(end);
            }
            if connection.body_left > 0 {
                match send_body(connection, &mut self.driver, counts) {
                    Done::Clear => continue,
                    other => break other,
                }
            }
            match connection.owed.front() {
                Some(due) if due.at > self.now => break Done::Later(due.at),
                Some(due) if due.answer.is_control() => {
                    self.control.push(id);
                    break Done::Waiting;
                }
                Some(due) if due.answer.is_placeholder() => break Done::Waiting,
                _ => {}
            }
            render_owed(connection, &mut self.outbox, self.now, counts);
        };
        self.settle(id, done, counts);
    }

    /// Acts on the state in which [`Worker::advance`] left the connection.
    #[inline]
    fn settle(&mut self, id: ConnId, done: Done, counts: &Counts) {
        let Some(connection) = self.connections.get(id) else { return };
        match done {
            Done::Clear => match connection.then {
                AfterLast::Go if !connection.peer_done => {}
                AfterLast::Linger | AfterLast::Lingering if !connection.peer_done => self.linger(id),
                AfterLast::Go => self.close(id, CloseKind::Finished, counts),
                _ => self.close(id, CloseKind::Closed, counts),
            },
            Done::Waiting => {}
            Done::Runnable => {
                if !std::mem::replace(&mut connection.runnable, true) {
                    self.runnable.push_back(id);
                }
            }
            Done::Later(at) => self.arm(id, at),
            Done::Broken => self.close(id, CloseKind::Broken, counts),
        }
    }

    fn linger(&mut self, id: ConnId) {
        let Some(connection) = self.connections.get(id) else { return };
        if connection.then == AfterLast::Linger {
            connection.then = AfterLast::Lingering;
            self.driver.shut_down_sending(id);
            self.arm(id, self.now.after(LINGER));
        }
    }

    /// Sets the timer of this connection to `at`.
    fn arm(&mut self, id: ConnId, at: Nanos) {
        let Some(connection) = self.connections.get(id) else { return };
        if let Some(old) = connection.timer.take() {
            self.timers.cancel(old);
        }
        connection.timer = Some(self.timers.insert(at, id));
        self.next_timer = self.next_timer.min(at);
    }

    fn fire_timers(&mut self, counts: &Counts) {
        while let Some((_, id)) = self.timers.pop(self.now) {
            let Some(connection) = self.connections.get(id) else { continue };
            connection.timer = None;
            if connection.then == AfterLast::Lingering {
                self.close(id, CloseKind::Closed, counts);
            } else {
                self.advance(id, counts);
            }
        }
        self.next_timer = self.timers.next().unwrap_or(Nanos::MAX);
    }

    fn close(&mut self, id: ConnId, how: CloseKind, counts: &Counts) {
        self.close_by(id, how, Close::Fin, counts);
    }

    fn close_by(&mut self, id: ConnId, how: CloseKind, by: Close, counts: &Counts) {
        let Some(connection) = self.connections.remove(id) else { return };
        if connection.kind != CountedAs::Control {
            counts.closed(how);
        }
        if let Some(timer) = connection.timer {
            self.timers.cancel(timer);
        }
        self.driver.close(id, by);
    }

    /// Replaces the next response of this client, which is about the counts, by the actual one.
    fn answer_control(&mut self, id: ConnId, counts: &Counts) {
        let Some(connection) = self.connections.get(id) else { return };
        let Some(due) = connection.find_owed(|due| due.answer.is_control()) else { return };
        due.answer = match due.answer {
            Response::Truth => Response::Json(self.shared.truth().to_json()),
            Response::Standing => Response::Json(self.shared.open_now().to_json()),
            Response::Reset => {
                self.shared.reset();
                counts.follow(self.shared.epoch());
                Response::Status(204)
            }
            _ => return,
        };
        self.advance(id, counts);
    }
}
