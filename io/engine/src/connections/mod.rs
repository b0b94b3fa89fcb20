//! [`Connections`]: slots, the pool of shared connections, and the results of the requests on them.
//!
//! It accepts [`QueuedRequest`]s and returns [`ConnectionOutcome`]s; pacing and users are above it.
//! A connection that is lost under a request is reopened only when the next request needs it.

mod current_phases;
mod deferred_send;
mod deferred_sends;
mod dialing;
mod establish;
mod events;
mod held;
mod message_intake;
mod message_requests;
mod messages;
mod pings;
mod pooled;
mod receiving;
mod replies;
mod stamps;
mod stream_counts;
mod stream_intake;
mod streams;
mod timeouts;
mod timer;
mod transient;
mod upgrades;

use std::collections::VecDeque;
use std::sync::Arc;

use wavetank_driver::{CloseReason, ConnId, Driver, Errno, Event};
use wavetank_pace::Timers;
use wavetank_plan::{ConnectionOwner, HttpVersion, Plan};
use wavetank_units::Nanos;
use wavetank_wire::h1::{Eof, HeadCache, Limits};

use crate::conn_io::ConnIoPool;
use crate::conn_slot::{ConnSlot, ConnState, LastUse, SlotIntent};
use crate::connection_demand::SlotCounts;
use crate::exchange_buffers::ExchangeBuffers;
use crate::failure::{self, Failure};
use crate::machine::Machine;
use crate::pool::Pool;
use crate::preface::Preface;
use crate::recorder::Recorder;
use crate::request_queue::QueuedRequest;
use crate::requests::Requests;
use crate::slot_allocator::SlotAllocator;
use crate::sources::{Sources, Tuple};
use current_phases::CurrentPhases;
use deferred_send::DeferredSend;
pub(crate) use events::{ConnectionOutcome, HoldEvent};
use pings::Pings;
use stream_counts::{has_streams, streams_per_connection};
use timer::Timer;
use upgrades::Upgrades;

/// The maximum number of connections for which tables reserve space.
const ROOM_MAX: usize = 1 << 20;

/// All connections of one load thread; see the module documentation.
pub(crate) struct Connections<D> {
    pub(crate) driver: D,
    pub(crate) plan: Arc<Plan>,
    pub(crate) requests: Arc<Requests>,
    /// The requests that sessions send, and the parts of responses that are kept.
    pub(crate) buffers: ExchangeBuffers,
    sources: Sources,
    /// The number of each target among the TLS targets.
    names: Vec<Option<u16>>,
    preface: Preface,
    last_answer: HeadCache,
    io_pool: ConnIoPool,
    timers: Timers<Timer>,
    /// The slots that were used at least once.
    pub(crate) slots: Vec<ConnSlot>,
    /// Driver slot → connection slot.
    slot_of_conn: Vec<u32>,
    /// The slots that are not permanently assigned to a user.
    vacant: SlotAllocator,
    /// Connections that all sessions share.
    pool: Option<Pool>,
    /// By scenario: whether a connection serves only one request.
    single: Vec<bool>,
    /// By scenario: whether a session of the open loop has its own connection.
    own: Vec<bool>,
    pipeline: usize,
    /// Requests that a connection serves, unless its scenario specifies a different number.
    lasts: u64,
    opening: usize,
    /// Connections for this phase must still be opened for waiting requests.
    opening_more: Option<u16>,
    /// When the last send, or other work of this thread on a request, ended.
    worked_until: Nanos,
    pub(crate) outcomes: VecDeque<ConnectionOutcome>,
    /// Events of held connections.
    pub(crate) held: VecDeque<HoldEvent>,
    /// Requests handed to the driver since the last wait, if it defers sends.
    pub(crate) leaving: Vec<DeferredSend>,
    /// Connections use HTTP/2 or HTTP/3.
    has_streams: bool,
    /// They use HTTP/3: a connection is open when the handshake of QUIC is complete.
    is_quic: bool,
    /// How connections become ready for messages; `None`: no target carries any.
    upgrades: Option<Upgrades>,
    pings: Pings,
    current_phases: CurrentPhases,
    /// Slots of connections with streams and bytes to send, which leave at the end of the turn.
    unflushed: Vec<u32>,
}

impl<D: Driver> Connections<D> {
    pub(crate) fn new(
        driver: D,
        plan: Arc<Plan>,
        requests: Arc<Requests>,
        sources: Sources,
        slots: SlotCounts,
    ) -> Self {
        // Reserves one entry for every slot, so that tables do not grow by doubling. Unused space
        // costs only address space.
        let room = (slots.all() as usize).min(ROOM_MAX);
        let timed = room.saturating_sub(slots.held as usize);
        let streams = streams_per_connection(&plan);
        let uses = |wanted: &dyn Fn(ConnectionOwner) -> bool| {
            plan.scenarios.iter().map(|scenario| wanted(scenario.connection)).collect()
        };
        let upgrades = Upgrades::new(&plan);
        let keeps_messages = requests.reads_earlier_messages();
        Self {
            driver,
            requests,
            buffers: ExchangeBuffers::default(),
            names: plan.server_name_indices(),
            preface: Preface::new(&plan),
            last_answer: HeadCache::new(),
            io_pool: ConnIoPool::new(
                Limits { body_bytes_max: plan.http.body_max.unwrap_or(u64::MAX), ..Limits::default() },
                sources.seed(plan.seed),
                keeps_messages,
            ),
            sources,
            timers: Timers::with_capacity(timed),
            slots: Vec::with_capacity(room),
            slot_of_conn: Vec::with_capacity(room),
            vacant: SlotAllocator::from(slots.own),
            pool: (slots.pool > 0).then(|| Pool::new(slots.pool, plan.targets.len(), streams)),
            single: uses(&|connection| connection == ConnectionOwner::Request),
            own: uses(&|connection| connection != ConnectionOwner::Shared),
            pipeline: if plan.uses_tunnels() { 1 } else { plan.http.pipeline as usize },
            has_streams: has_streams(&plan),
            is_quic: plan.http.version == HttpVersion::Http3,
            upgrades,
            unflushed: Vec::new(),
            pings: Pings::new(&plan),
            current_phases: CurrentPhases::new(&plan),
            lasts: if plan.http.keepalive {
                plan.http.requests_per_connection.unwrap_or(u64::MAX)
            } else {
                1
            },
            opening: 0,
            opening_more: None,
            worked_until: Nanos(i64::MIN),
            plan,
            outcomes: VecDeque::new(),
            held: VecDeque::new(),
            leaving: Vec::new(),
        }
    }

    /// Sends a request as soon as a connection allows it: on `slot`, or on any shared connection.
    pub(crate) fn submit(
        &mut self,
        request: QueuedRequest,
        slot: Option<u32>,
        phase: u16,
        at: Nanos,
        rec: &mut Recorder,
    ) {
        let Some(slot) = slot else { return self.submit_shared(request, phase, at, rec) };
        self.ensure_slot(slot);
        let entry = &mut self.slots[slot as usize];
        if entry.has_room(self.pipeline) {
            entry.phase = phase;
            return self.dispatch(slot, request, at, rec);
        }
        let state = entry.state;
        self.io_of(slot).queue.wait(request);
        if state == ConnState::Closed {
            self.open(slot, request.target, phase, rec);
        } else {
            self.arm(slot);
        }
    }

    /// Hands a request to the driver on an open connection.
    #[inline]
    fn dispatch(&mut self, slot: u32, request: QueuedRequest, at: Nanos, rec: &mut Recorder) {
        let entry = &mut self.slots[slot as usize];
        let conn = entry.conn.expect("an open slot has a connection id");
        let io = entry.io.get_or_insert_with(|| self.io_pool.take_for(slot, entry.parked));
        let Machine::Http1(reader) = &mut io.machine else {
            return self.dispatch_other(slot, request, at, rec);
        };
        if io.queue.sent() == 0 {
            reader.expect(request.flags.is_head());
        }
        io.queue.push_sent(request);
        let at = self.fresh(at);
        let result = match self.buffers.request(request.exchange) {
            None => {
                let rendered = self.requests.get(request.scenario, request.step);
                self.driver.send_shared(conn, &rendered.bytes)
            }
            Some(bytes) => self.driver.send(conn, bytes),
        };
        // If the driver defers sends, it times the calls that carry them.
        if !D::SENDS_LATER {
            self.worked_until = self.driver.now();
            rec.send_call(self.worked_until.since(at));
        }
        match result {
            Ok(_) => self.on_send_queued(conn, request.exchange, at),
            // The driver reports the end after earlier responses. The end decides about this
            // request.
            Err(_) => self.io_of(slot).queue.refuse(),
        }
        self.arm_for(slot, request.deadline);
    }

    /// Waits for sockets, from `now` until `until`. Returns whether any is ready.
    pub(crate) fn wait(&mut self, now: Nanos, until: Nanos) -> Result<bool, Errno> {
        let ready = self.driver.wait_from(now, until)?;
        if D::SENDS_LATER {
            self.reclaim_unsent();
        }
        Ok(ready)
    }

    /// Returns the next event of the driver.
    #[inline]
    pub(crate) fn next_event(&mut self) -> Option<Event> {
        self.driver.next()
    }

    /// Handles one event that was read at `at`.
    pub(crate) fn handle(&mut self, event: Event, at: Nanos, rec: &mut Recorder) {
        match event {
            Event::Received(conn, len) => self.received(conn, len, at, rec),
            Event::Connected(conn) => self.connected(conn, at, rec),
            Event::ConnectFailed(conn, errno) => self.connect_failed(self.slot_of(conn), errno, at, rec),
            Event::Ended(conn, how) => self.ended(self.slot_of(conn), how, at, rec),
            Event::Secured(conn) => self.secured(conn, at, rec),
            Event::Flushed(conn) => self.flushed(conn, at, rec),
            Event::Woken => {}
            Event::Accepted(..) | Event::AcceptFailed(..) => unreachable!("load threads have no listeners"),
        }
    }

    #[inline]
    fn slot_of(&self, conn: ConnId) -> u32 {
        self.slot_of_conn[conn.slot as usize]
    }

    /// Handles a slot's connection that can carry requests now.
    fn opened(&mut self, slot: u32, at: Nanos, rec: &mut Recorder) {
        let entry = &mut self.slots[slot as usize];
        rec.opened(std::mem::replace(&mut entry.last_use, LastUse::Nothing) == LastUse::Lost);
        entry.state = ConnState::Open;
        if let Some(io) = &mut entry.io
            && let Machine::Http1(reader) = &mut io.machine
        {
            reader.restart();
        }
        self.on_dial_finished(slot);
        self.start_pings(slot, at);
        if self.on_opened(slot, at, rec) {
            self.free(slot, at, rec);
        }
    }

    /// Handles an open connection with capacity: it gets waiting requests, or becomes idle.
    fn free(&mut self, slot: u32, at: Nanos, rec: &mut Recorder) {
        loop {
            let entry = &mut self.slots[slot as usize];
            if !entry.has_room(self.pipeline) {
                return;
            }
            if entry.is_pooled() {
                return self.free_shared(slot, at, rec);
            }
            let Some(request) = entry.take_waiting() else {
                if entry.is_held_idle() {
                    self.release_io(slot);
                }
                return;
            };
            self.dispatch(slot, request, at, rec);
        }
    }

    /// Handles a connection that the peer closed or that broke.
    fn ended(&mut self, slot: u32, how: CloseReason, at: Nanos, rec: &mut Recorder) {
        let entry = &mut self.slots[slot as usize];
        // QUIC is secured while it connects.
        if matches!(entry.state, ConnState::Securing | ConnState::Connecting) {
            return self.handshake_ended(slot, how, at, rec);
        }
        if entry.state == ConnState::Tunnelling {
            return self.tunnelling_ended(slot, how, at, rec);
        }
        if entry.state == ConnState::Greeting {
            return self.greeting_ended(slot, how, at, rec);
        }
        if how == CloseReason::Eof
            && let Some(io) = &mut entry.io
            && let Machine::Http1(reader) = &mut io.machine
            && let Some(request) = io.queue.first_sent()
            && let Eof::Complete(answer) = reader.eof()
        {
            io.queue.pop_sent();
            let first_byte = io.first_byte;
            entry.serve();
            self.outcomes.push_back(ConnectionOutcome::Answered(request.exchange, answer, first_byte, at));
            return self.end(slot, failure::AFTER_CLOSE, false, at, rec);
        }
        if how == CloseReason::Eof && self.upgrades.is_some() && self.messages_ended(slot, at, rec) {
            return;
        }
        let failure = failure::end_failure(how, &self.driver);
        if self.upgrades.is_some() && self.outlives_end(slot, how) && self.keep_unread(slot, &failure) {
            return;
        }
        // A close that was announced, with nothing in flight, is no loss.
        let lost = !self.has_parted(slot);
        self.end(slot, failure, lost, at, rec);
    }

    /// Closes a slot's connection. The current request fails with `failure`, and those behind it
    /// lose their connection. Waiting requests continue on a new connection.
    fn end(&mut self, slot: u32, failure: Failure, lost: bool, at: Nanos, rec: &mut Recorder) {
        let close = self.plan.http.close;
        let entry = &mut self.slots[slot as usize];
        if D::SENDS_LATER
            && entry.sent() > 0
            && let Some(conn) = entry.conn
        {
            self.flush_conn(conn);
        }
        let entry = &mut self.slots[slot as usize];
        if let Some(conn) = entry.conn.take() {
            self.driver.close(conn, close);
            self.sources.release(std::mem::replace(&mut entry.tuple, Tuple::KERNELS), at);
        }
        (entry.state, entry.parked) = (ConnState::Closed, None);
        let served = entry.last_use == LastUse::Served;
        // A held connection is opened again, whichever side ended it.
        let again = lost || entry.intent == SlotIntent::Hold;
        entry.last_use = if again { LastUse::Lost } else { LastUse::Nothing };
        if lost {
            rec.lost(failure.class);
        } else {
            rec.closed();
        }
        let phase = entry.phase;
        self.break_requests(slot, failure, served, at);
        if let Some(request) = self.slots[slot as usize].first_waiting() {
            self.open(slot, request.target, phase, rec);
        } else if self.slots[slot as usize].is_pooled() {
            self.remove_from_pool(slot);
            self.dial_for_queue(phase, rec);
        } else {
            self.on_hold_lost(slot, at);
        }
    }

    /// Fails the requests in flight on a connection that has ended with `failure`. `served`: it had
    /// answered a request.
    fn break_requests(&mut self, slot: u32, mut failure: Failure, served: bool, at: Nanos) {
        let Some(io) = &mut self.slots[slot as usize].io else { return };
        let Machine::Http1(reader) = &io.machine else {
            return self.break_other(slot, &failure, served, at);
        };
        // A response that has begun cannot be requested again. If none has begun, a retry is
        // allowed, provided the connection had worked.
        let mut untouched = !reader.has_begun();
        while let Some((request, unsent)) = io.queue.pop_cut() {
            let between = failure.peer_closed && untouched && served;
            let retry = between && (unsent || request.flags.is_idempotent());
            let broken = if between { failure.clone().between_requests() } else { failure.clone() };
            let broken = Box::new(Failure { retry, ..broken });
            self.outcomes.push_back(ConnectionOutcome::Broken(request.exchange, broken, at));
            untouched = true;
            failure = if failure.peer_closed { failure } else { failure::BEHIND_A_FAILURE };
        }
    }
}
