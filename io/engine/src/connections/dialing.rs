//! Opens connections and handles failures to open them.

use std::net::SocketAddr;

use wavetank_driver::{CloseReason, ConnId, Datagrams, Dial, DialTls, Driver, Errno};
use wavetank_measure::ErrorClass;
use wavetank_plan::{Close, UrlProtocol};
use wavetank_units::Nanos;

use super::Connections;
use super::events::ConnectionOutcome;
use crate::conn_io::ConnIo;
use crate::conn_slot::{ConnSlot, ConnState};
use crate::failure::{self, Failure};
use crate::preconnect::HANDSHAKES_MAX;
use crate::preface::TUNNEL_TIMEOUT;
use crate::recorder::Recorder;
use crate::sources::{Route, Tuple};

/// The maximum number of tuples tried for one opening. Other programs may occupy a few tuples, but
/// not all.
const TUPLES_TRIED_MAX: u8 = 16;

impl<D: Driver> Connections<D> {
    /// Makes room for `slot`. A plan allows more connections than most runs need, so the table
    /// grows on demand.
    #[inline]
    pub(super) fn ensure_slot(&mut self, slot: u32) {
        if self.slots.len() <= slot as usize {
            self.slots.resize_with(slot as usize + 1, ConnSlot::new);
        }
    }

    /// Returns the activity of `slot`, creating it if it has none.
    #[inline]
    pub(super) fn io_of(&mut self, slot: u32) -> &mut ConnIo {
        let Self { slots, io_pool, .. } = self;
        let entry = &mut slots[slot as usize];
        entry.io.get_or_insert_with(|| io_pool.take_for(slot, entry.parked))
    }

    /// Whether one more connection may be opened before the load starts.
    ///
    /// A connect costs the load thread next to nothing, but a handshake may take longer than the
    /// opening rate allows. Queued handshakes would run into the connect timeout because of the
    /// local CPU, as if the target had been slow.
    pub(crate) fn can_preopen(&self) -> bool {
        self.opening < HANDSHAKES_MAX || self.names.iter().all(Option::is_none)
    }

    /// Makes new connections use these addresses.
    pub(crate) fn update_addresses(&mut self, ways: &[Vec<SocketAddr>]) {
        self.sources.lead(ways);
    }

    /// Whether connections are being opened.
    pub(crate) const fn is_opening(&self) -> bool {
        self.opening > 0
    }

    /// Records that a slot's connection was opened or failed to open.
    pub(super) fn on_dial_finished(&mut self, slot: u32) {
        self.opening -= 1;
        let entry = &self.slots[slot as usize];
        if entry.is_pooled()
            && let Some(pool) = &mut self.pool
        {
            pool.no_longer_opening(entry.target);
        }
    }

    /// Whether some connections must still be opened that did not fit into the last turn.
    pub(crate) const fn is_opening_more(&self) -> bool {
        self.opening_more.is_some()
    }

    /// Opens them. Returns whether there were any.
    pub(crate) fn continue_opening(&mut self, rec: &mut Recorder) -> bool {
        let phase = self.opening_more;
        if let Some(phase) = phase {
            self.dial_for_queue(phase, rec);
        }
        phase.is_some()
    }

    /// Opens this slot's connection before the phase that needs it starts.
    pub(crate) fn preopen(&mut self, slot: u32, target: u16, phase: u16, rec: &mut Recorder) {
        self.ensure_slot(slot);
        if self.slots[slot as usize].state == ConnState::Closed {
            self.open(slot, target, phase, rec);
        }
    }

    /// Opens this slot's connection, unless no source address is left.
    pub(super) fn open(&mut self, slot: u32, target: u16, phase: u16, rec: &mut Recorder) {
        let began = self.driver.now();
        let Some(route) = self.sources.allocate(target, began) else {
            return self.without_source(slot, target, began);
        };
        rec.opening();
        self.opening += 1;
        let entry = &mut self.slots[slot as usize];
        (entry.target, entry.phase) = (target, phase);
        entry.state = ConnState::Connecting;
        entry.began = began;
        let single = entry.first_waiting().is_some_and(|request| self.single[usize::from(request.scenario)]);
        entry.left = if single { 1 } else { self.lasts };
        if entry.is_pooled()
            && let Some(pool) = &mut self.pool
        {
            pool.opening(target);
        }
        self.io_of(slot).refused = 0;
        // `open_for_waiting` is not called if this fails: its loop continues anyway, and other
        // slots have no waiting requests.
        if let Err(failure) = self.dial(slot, &route) {
            self.open_failed(slot, &failure, began, rec);
        }
    }

    /// Connects. If the tuple is taken, it tries another one as part of the same opening.
    #[expect(clippy::inline_always, reason = "one caller that is not cold; a call costs more than its work")]
    #[inline(always)]
    fn dial(&mut self, slot: u32, route: &Route) -> Result<(), Failure> {
        let name = self.names[usize::from(self.slots[slot as usize].target)];
        // After a preface, TLS starts later.
        let prefaced = self.preface.is_needed();
        let tls = name.filter(|_| !prefaced).map(|name| DialTls { name, session: slot });
        // A connection opened before the load has no request waiting, and the target must see it
        // immediately.
        let speaks_at_once = prefaced || self.slots[slot as usize].left == 1 && self.is_awaited(slot);
        let asks_ends = self.preface.needs_addresses();
        let datagrams = (self.protocol_of(slot) == UrlProtocol::Udp).then_some(Datagrams::Whole);
        let dial = Dial { to: route.to, from: route.from, speaks_at_once, asks_ends, tls, datagrams };
        match self.driver.connect(&dial) {
            Ok(conn) => {
                self.dialed(slot, conn, route.tuple);
                Ok(())
            }
            Err(errno) => self.dial_others(slot, dial, route.tuple, errno),
        }
    }

    /// Tries other tuples after connecting by `tuple` has failed with `errno`.
    #[cold]
    fn dial_others(
        &mut self,
        slot: u32,
        mut dial: Dial,
        mut tuple: Tuple,
        mut errno: Errno,
    ) -> Result<(), Failure> {
        loop {
            let failure = self.unreached(slot, tuple, failure::connect_failure(errno));
            let route = self.another(slot, tuple, errno).ok_or(failure)?;
            (dial.to, dial.from, tuple) = (route.to, route.from, route.tuple);
            match self.driver.connect(&dial) {
                Ok(conn) => {
                    self.dialed(slot, conn, tuple);
                    return Ok(());
                }
                Err(next) => errno = next,
            }
        }
    }

    /// Records the connection that a slot's opening has started.
    #[expect(clippy::inline_always, reason = "one caller that is not cold; a call costs more than its work")]
    #[inline(always)]
    fn dialed(&mut self, slot: u32, conn: ConnId, tuple: Tuple) {
        let entry = &mut self.slots[slot as usize];
        (entry.conn, entry.tuple) = (Some(conn), tuple);
        // Nothing is in flight on it.
        let deadline = entry.began.after(self.plan.http.connect_timeout);
        let queued = entry.io.as_ref().and_then(|io| io.queue.deadline());
        let index = conn.slot as usize;
        if self.slot_of_conn.len() <= index {
            self.slot_of_conn.resize(index + 1, u32::MAX);
        }
        self.slot_of_conn[index] = slot;
        self.arm_for(slot, queued.map_or(deadline, |queued| queued.min(deadline)));
    }

    /// Returns `failure` to connect by `tuple` with the address, if the target has several.
    fn unreached(&self, slot: u32, tuple: Tuple, failure: Failure) -> Failure {
        failure.at(self.sources.one_of_several(self.slots[slot as usize].target, tuple))
    }

    /// Whether a request will be sent on this slot's connection as soon as it is open.
    fn is_awaited(&self, slot: u32) -> bool {
        let entry = &self.slots[slot as usize];
        match &self.pool {
            Some(pool) if entry.is_pooled() => pool.waiting(entry.target) > 0,
            _ => entry.first_waiting().is_some(),
        }
    }

    /// Returns the next tuple to try after connecting by `tuple` failed, if the tuple was the
    /// cause.
    fn another(&mut self, slot: u32, tuple: Tuple, errno: Errno) -> Option<Route> {
        let now = self.driver.now();
        if !tuple.is_chosen() || !matches!(errno.0, libc::EADDRINUSE | libc::EADDRNOTAVAIL) {
            self.sources.release(tuple, now);
            return None;
        }
        self.sources.refuse(tuple, now);
        let io = self.io_of(slot);
        io.refused += 1;
        if io.refused >= TUPLES_TRIED_MAX {
            return None;
        }
        self.sources.allocate(self.slots[slot as usize].target, now)
    }

    /// Handles a connect that the driver reports as failed.
    #[cold]
    pub(super) fn connect_failed(&mut self, slot: u32, errno: Errno, at: Nanos, rec: &mut Recorder) {
        let entry = &mut self.slots[slot as usize];
        entry.conn = None;
        let (phase, tuple) = (entry.phase, std::mem::replace(&mut entry.tuple, Tuple::KERNELS));
        let failure = match self.another(slot, tuple, errno) {
            Some(route) => self.dial(slot, &route),
            None => Err(self.unreached(slot, tuple, failure::connect_failure(errno))),
        };
        if let Err(failure) = failure {
            let failure = self.in_handshake(slot, failure, rec);
            self.open_failed(slot, &failure, at, rec);
            self.dial_for_queue(phase, rec);
        }
    }

    /// Returns the failure as one of the TLS handshake if TLS is used.
    ///
    /// A connection that was reset before it was seen as open had been accepted. This makes the
    /// result the same as with a driver that sees the connect first.
    fn in_handshake(&self, slot: u32, failure: Failure, rec: &mut Recorder) -> Failure {
        let ConnSlot { phase, target, .. } = self.slots[slot as usize];
        match (failure.class, failure.errno) {
            (ErrorClass::Reset, Some(errno))
                if self.names[usize::from(target)].is_some() && !self.preface.is_needed() =>
            {
                rec.handshake_failed(phase, target);
                failure::handshake_failure(CloseReason::Broken(errno), &self.driver)
            }
            _ => failure,
        }
    }

    /// Handles a slot for which every tuple is in use or resting. The requests that wait for it are
    /// dropped without a try.
    fn without_source(&mut self, slot: u32, target: u16, at: Nanos) {
        if self.slots[slot as usize].is_pooled() {
            self.remove_from_pool(slot);
            if let Some((request, _)) = self.pool.as_mut().and_then(|pool| pool.take_waiting(target)) {
                self.outcomes.push_back(ConnectionOutcome::Dropped(request.exchange, at));
            }
        }
        while let Some(request) = self.slots[slot as usize].take_waiting() {
            self.outcomes.push_back(ConnectionOutcome::Dropped(request.exchange, at));
        }
        // The user retries as if the connection had been refused.
        self.slots[slot as usize].began = at;
        self.on_hold_lost(slot, at);
    }

    /// Gives up an opening that took too long, in the connect or in the TLS handshake.
    pub(super) fn opening_timed_out(&mut self, slot: u32, at: Nanos, rec: &mut Recorder) {
        let ConnSlot { state, tuple, .. } = self.slots[slot as usize];
        let failure = match state {
            ConnState::Securing => failure::HANDSHAKE_TIMEOUT,
            ConnState::Tunnelling => TUNNEL_TIMEOUT,
            ConnState::Greeting if self.has_streams => failure::GREETING_TIMEOUT,
            ConnState::Greeting => failure::opening_timeout(self.protocol_of(slot)),
            _ => self.unreached(slot, tuple, Failure::new(ErrorClass::ConnectTimeout)),
        };
        self.cancel_dial(slot, &failure, Close::Rst, at, rec);
    }

    /// Handles a connection that ended during the TLS handshake.
    pub(super) fn handshake_ended(&mut self, slot: u32, how: CloseReason, at: Nanos, rec: &mut Recorder) {
        let failure = failure::handshake_failure(how, &self.driver);
        self.cancel_dial(slot, &failure, self.plan.http.close, at, rec);
    }

    pub(super) fn cancel_dial(
        &mut self,
        slot: u32,
        failure: &Failure,
        how: Close,
        at: Nanos,
        rec: &mut Recorder,
    ) {
        let entry = &mut self.slots[slot as usize];
        let phase = entry.phase;
        if entry.state == ConnState::Securing {
            rec.handshake_failed(phase, entry.target);
        }
        if let Some(conn) = entry.conn.take() {
            self.driver.close(conn, how);
            self.sources.release(std::mem::replace(&mut entry.tuple, Tuple::KERNELS), at);
        }
        self.open_failed(slot, failure, at, rec);
        self.dial_for_queue(phase, rec);
    }

    pub(super) fn open_failed(&mut self, slot: u32, failure: &Failure, at: Nanos, rec: &mut Recorder) {
        rec.open_failed(failure.class);
        self.on_dial_finished(slot);
        let entry = &mut self.slots[slot as usize];
        entry.state = ConnState::Closed;
        entry.conn = None;
        let target = entry.target;
        if entry.is_pooled() {
            self.remove_from_pool(slot);
            if let Some((request, _)) = self.pool.as_mut().and_then(|pool| pool.take_waiting(target)) {
                self.outcomes.push_back(ConnectionOutcome::Broken(
                    request.exchange,
                    Box::new(failure.clone()),
                    at,
                ));
            }
        }
        while let Some(request) = self.slots[slot as usize].take_waiting() {
            self.outcomes.push_back(ConnectionOutcome::Broken(
                request.exchange,
                Box::new(failure.clone()),
                at,
            ));
        }
        self.on_hold_lost(slot, at);
    }
}
