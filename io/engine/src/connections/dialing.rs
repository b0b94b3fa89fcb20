//! Opens connections and handles failures to open them.

use std::net::SocketAddr;

use wavetank_driver::{CloseReason, Dial, DialTls, Driver, Errno};
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
    /// Makes room for `seat`. A plan allows more connections than most runs need, so the table
    /// grows on demand.
    #[inline]
    pub(super) fn ensure_slot(&mut self, seat: u32) {
        if self.seats.len() <= seat as usize {
            self.seats.resize_with(seat as usize + 1, ConnSlot::new);
        }
    }

    /// Returns the activity of `seat`, creating it if it has none.
    #[inline]
    pub(super) fn conversation(&mut self, seat: u32) -> &mut ConnIo {
        let Self { seats, talks, .. } = self;
        let entry = &mut seats[seat as usize];
        entry.talk.get_or_insert_with(|| talks.take_for(seat, entry.parked))
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
    pub(super) fn on_dial_finished(&mut self, seat: u32) {
        self.opening -= 1;
        let entry = &self.seats[seat as usize];
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
    pub(crate) fn preopen(&mut self, seat: u32, target: u16, phase: u16, rec: &mut Recorder) {
        self.ensure_slot(seat);
        if self.seats[seat as usize].state == ConnState::Closed {
            self.open(seat, target, phase, rec);
        }
    }

    /// Opens this slot's connection, unless no source address is left.
    pub(super) fn open(&mut self, seat: u32, target: u16, phase: u16, rec: &mut Recorder) {
        let began = self.driver.now();
        let Some(route) = self.sources.allocate(target, began) else {
            return self.without_source(seat, target, began);
        };
        rec.opening();
        self.opening += 1;
        let entry = &mut self.seats[seat as usize];
        (entry.target, entry.phase) = (target, phase);
        entry.state = ConnState::Connecting;
        entry.began = began;
        let single = entry.first_waiting().is_some_and(|flight| self.single[usize::from(flight.scenario)]);
        entry.left = if single { 1 } else { self.lasts };
        if entry.is_pooled()
            && let Some(pool) = &mut self.pool
        {
            pool.opening(target);
        }
        self.conversation(seat).refused = 0;
        // `open_for_waiting` is not called if this fails: its loop continues anyway, and other
        // slots have no waiting requests.
        if let Err(failure) = self.dial(seat, route) {
            self.open_failed(seat, &failure, began, rec);
        }
    }

    /// Connects. If the tuple is taken, it tries another one as part of the same opening.
    fn dial(&mut self, seat: u32, mut route: Route) -> Result<(), Failure> {
        let name = self.names[usize::from(self.seats[seat as usize].target)];
        // After a preface, TLS starts later.
        let prefaced = self.preface.is_needed();
        let tls = name.filter(|_| !prefaced).map(|name| DialTls { name, session: seat });
        // A connection opened before the load has no request waiting, and the target must see it
        // immediately.
        let speaks_at_once = prefaced || self.seats[seat as usize].left == 1 && self.is_awaited(seat);
        let asks_ends = self.preface.needs_addresses();
        let datagrams = self.protocol_of(seat) == UrlProtocol::Udp;
        loop {
            let dial = Dial { to: route.to, from: route.from, speaks_at_once, asks_ends, tls, datagrams };
            match self.driver.connect(&dial) {
                Ok(link) => {
                    let entry = &mut self.seats[seat as usize];
                    (entry.link, entry.tuple) = (Some(link), route.tuple);
                    let slot = link.slot as usize;
                    if self.seat_of_slot.len() <= slot {
                        self.seat_of_slot.resize(slot + 1, u32::MAX);
                    }
                    self.seat_of_slot[slot] = seat;
                    self.arm(seat);
                    return Ok(());
                }
                Err(errno) => {
                    let failure = self.unreached(seat, route.tuple, failure::connect_failure(errno));
                    route = self.another(seat, route.tuple, errno).ok_or(failure)?;
                }
            }
        }
    }

    /// Returns `failure` to connect by `tuple` with the address, if the target has several.
    fn unreached(&self, seat: u32, tuple: Tuple, failure: Failure) -> Failure {
        failure.at(self.sources.one_of_several(self.seats[seat as usize].target, tuple))
    }

    /// Whether a request will be sent on this slot's connection as soon as it is open.
    fn is_awaited(&self, seat: u32) -> bool {
        let entry = &self.seats[seat as usize];
        match &self.pool {
            Some(pool) if entry.is_pooled() => pool.waiting(entry.target) > 0,
            _ => entry.first_waiting().is_some(),
        }
    }

    /// Returns the next tuple to try after connecting by `tuple` failed, if the tuple was the
    /// cause.
    fn another(&mut self, seat: u32, tuple: Tuple, errno: Errno) -> Option<Route> {
        let now = self.driver.now();
        if !tuple.is_chosen() || !matches!(errno.0, libc::EADDRINUSE | libc::EADDRNOTAVAIL) {
            self.sources.release(tuple, now);
            return None;
        }
        self.sources.refuse(tuple, now);
        let talk = self.conversation(seat);
        talk.refused += 1;
        if talk.refused >= TUPLES_TRIED_MAX {
            return None;
        }
        self.sources.allocate(self.seats[seat as usize].target, now)
    }

    /// Handles a connect that the driver reports as failed.
    pub(super) fn connect_failed(&mut self, seat: u32, errno: Errno, at: Nanos, rec: &mut Recorder) {
        let entry = &mut self.seats[seat as usize];
        entry.link = None;
        let (phase, tuple) = (entry.phase, std::mem::replace(&mut entry.tuple, Tuple::KERNELS));
        let failure = match self.another(seat, tuple, errno) {
            Some(route) => self.dial(seat, route),
            None => Err(self.unreached(seat, tuple, failure::connect_failure(errno))),
        };
        if let Err(failure) = failure {
            let failure = self.in_handshake(seat, failure, rec);
            self.open_failed(seat, &failure, at, rec);
            self.dial_for_queue(phase, rec);
        }
    }

    /// Returns the failure as one of the TLS handshake if TLS is used.
    ///
    /// A connection that was reset before it was seen as open had been accepted. This makes the
    /// result the same as with a driver that sees the connect first.
    fn in_handshake(&self, seat: u32, failure: Failure, rec: &mut Recorder) -> Failure {
        let ConnSlot { phase, target, .. } = self.seats[seat as usize];
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
    fn without_source(&mut self, seat: u32, target: u16, at: Nanos) {
        if self.seats[seat as usize].is_pooled() {
            self.remove_from_pool(seat);
            if let Some(flight) = self.pool.as_mut().and_then(|pool| pool.take_waiting(target)) {
                self.outcomes.push_back(ConnectionOutcome::Dropped(flight.exchange, at));
            }
        }
        while let Some(flight) = self.seats[seat as usize].take_waiting() {
            self.outcomes.push_back(ConnectionOutcome::Dropped(flight.exchange, at));
        }
        // The user retries as if the connection had been refused.
        self.seats[seat as usize].began = at;
        self.on_hold_lost(seat, at);
    }

    /// Gives up an opening that took too long, in the connect or in the TLS handshake.
    pub(super) fn opening_timed_out(&mut self, seat: u32, at: Nanos, rec: &mut Recorder) {
        let ConnSlot { state, tuple, .. } = self.seats[seat as usize];
        let failure = match state {
            ConnState::Securing => failure::HANDSHAKE_TIMEOUT,
            ConnState::Tunnelling => TUNNEL_TIMEOUT,
            ConnState::Greeting if self.has_streams => failure::GREETING_TIMEOUT,
            ConnState::Greeting => failure::opening_timeout(self.protocol_of(seat)),
            _ => self.unreached(seat, tuple, Failure::new(ErrorClass::ConnectTimeout)),
        };
        self.cancel_dial(seat, &failure, Close::Rst, at, rec);
    }

    /// Handles a connection that ended during the TLS handshake.
    pub(super) fn handshake_ended(&mut self, seat: u32, how: CloseReason, at: Nanos, rec: &mut Recorder) {
        let failure = failure::handshake_failure(how, &self.driver);
        self.cancel_dial(seat, &failure, self.plan.http.close, at, rec);
    }

    pub(super) fn cancel_dial(
        &mut self,
        seat: u32,
        failure: &Failure,
        how: Close,
        at: Nanos,
        rec: &mut Recorder,
    ) {
        let entry = &mut self.seats[seat as usize];
        let phase = entry.phase;
        if entry.state == ConnState::Securing {
            rec.handshake_failed(phase, entry.target);
        }
        if let Some(link) = entry.link.take() {
            self.driver.close(link, how);
            self.sources.release(std::mem::replace(&mut entry.tuple, Tuple::KERNELS), at);
        }
        self.open_failed(seat, failure, at, rec);
        self.dial_for_queue(phase, rec);
    }

    pub(super) fn open_failed(&mut self, seat: u32, failure: &Failure, at: Nanos, rec: &mut Recorder) {
        rec.open_failed();
        self.on_dial_finished(seat);
        let entry = &mut self.seats[seat as usize];
        entry.state = ConnState::Closed;
        entry.link = None;
        let target = entry.target;
        if entry.is_pooled() {
            self.remove_from_pool(seat);
            if let Some(flight) = self.pool.as_mut().and_then(|pool| pool.take_waiting(target)) {
                self.outcomes.push_back(ConnectionOutcome::Broken(
                    flight.exchange,
                    Box::new(failure.clone()),
                    at,
                ));
            }
        }
        while let Some(flight) = self.seats[seat as usize].take_waiting() {
            self.outcomes.push_back(ConnectionOutcome::Broken(
                flight.exchange,
                Box::new(failure.clone()),
                at,
            ));
        }
        self.on_hold_lost(seat, at);
    }
}
