//! Opening connections, and what happens when that fails.

use std::net::SocketAddr;

use wavetank_driver::{CloseReason, Dial, DialTls, Driver, Errno};
use wavetank_measure::ErrorClass;
use wavetank_plan::{Close, Nanos};

use super::{ConnectionOutcome, Connections};
use crate::conn_io::ConnIo;
use crate::conn_slot::{ConnSlot, ConnState};
use crate::failure::{self, Failure};
use crate::preconnect::HANDSHAKES_MAX;
use crate::preface::TUNNEL_TIMEOUT;
use crate::recorder::Recorder;
use crate::sources::{Route, Tuple};

/// One opening tries at most so many tuples: somebody else may have taken a few, but not all.
const TUPLES_TRIED_MAX: u8 = 16;

impl<D: Driver> Connections<D> {
    /// Have a place for `seat`. A plan allows for more connections than most loads come to need.
    #[inline]
    pub(super) fn ensure_slot(&mut self, seat: u32) {
        if self.seats.len() <= seat as usize {
            self.seats.resize_with(seat as usize + 1, ConnSlot::new);
        }
    }

    /// What goes on on `seat`; begun if nothing did.
    #[inline]
    pub(super) fn conversation(&mut self, seat: u32) -> &mut ConnIo {
        let Self { seats, talks, .. } = self;
        seats[seat as usize].talk.get_or_insert_with(|| talks.take())
    }

    /// Whether one more connection may be opened ahead of the load now. A connect costs us next to nothing; a
    /// handshake costs more than an opening rate may leave time for, and those that queue behind our own CPU
    /// would run into the connect timeout as if the target had kept them waiting.
    pub(crate) fn can_preopen(&self) -> bool {
        self.opening < HANDSHAKES_MAX || self.names.iter().all(Option::is_none)
    }

    /// New connections go to these addresses.
    pub(crate) fn update_addresses(&mut self, ways: &[Vec<SocketAddr>]) {
        self.sources.lead(ways);
    }

    /// Whether connections are being opened.
    pub(crate) const fn is_opening(&self) -> bool {
        self.opening > 0
    }

    /// A seat's connection is open, or could not be opened.
    pub(super) fn on_dial_finished(&mut self, seat: u32) {
        self.opening -= 1;
        let entry = &self.seats[seat as usize];
        if entry.is_pooled()
            && let Some(pool) = &mut self.pool
        {
            pool.no_longer_opening(entry.target);
        }
    }

    /// Whether connections wait to be opened that did not fit into the last turn.
    pub(crate) const fn is_opening_more(&self) -> bool {
        self.opening_more.is_some()
    }

    /// Open them. Whether there were any.
    pub(crate) fn continue_opening(&mut self, rec: &mut Recorder) -> bool {
        let phase = self.opening_more;
        if let Some(phase) = phase {
            self.dial_for_queue(phase, rec);
        }
        phase.is_some()
    }

    /// Open this seat's connection ahead of the phase that will need it.
    pub(crate) fn preopen(&mut self, seat: u32, target: u16, phase: u16, rec: &mut Recorder) {
        self.ensure_slot(seat);
        if self.seats[seat as usize].state == ConnState::Closed {
            self.open(seat, target, phase, rec);
        }
    }

    /// Open this seat's connection, unless no source address is left.
    pub(super) fn open(&mut self, seat: u32, target: u16, phase: u16, rec: &mut Recorder) {
        let began = self.clock.now();
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
        // Not `open_for_waiting` if it fails: its loop goes on by itself, and others have nothing else waiting.
        if let Err(failure) = self.dial(seat, route) {
            self.open_failed(seat, &failure, began, rec);
        }
    }

    /// Connect, by another tuple if this one turns out to be taken: it all is one opening.
    fn dial(&mut self, seat: u32, mut route: Route) -> Result<(), Failure> {
        let name = self.names[usize::from(self.seats[seat as usize].target)];
        // Behind a preface TLS begins later.
        let prefaced = self.preface.is_needed();
        let tls = name.filter(|_| !prefaced).map(|name| DialTls { name, session: seat });
        // One opened ahead of the load has nobody waiting for it, and the target shall know of it at once.
        let speaks_at_once = prefaced || self.seats[seat as usize].left == 1 && self.is_awaited(seat);
        let asks_ends = self.preface.needs_addresses();
        loop {
            let dial = Dial { to: route.to, from: route.from, speaks_at_once, asks_ends, tls };
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
                    route = self.another(seat, route.tuple, errno).ok_or(failure::connect_failure(errno))?;
                }
            }
        }
    }

    /// Whether a request will go out on this seat's connection as soon as it is open.
    fn is_awaited(&self, seat: u32) -> bool {
        let entry = &self.seats[seat as usize];
        match &self.pool {
            Some(pool) if entry.is_pooled() => pool.waiting(entry.target) > 0,
            _ => entry.first_waiting().is_some(),
        }
    }

    /// Connecting by `tuple` failed: the next tuple to try, if that was its fault.
    fn another(&mut self, seat: u32, tuple: Tuple, errno: Errno) -> Option<Route> {
        let now = self.clock.now();
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

    /// The driver could not connect.
    pub(super) fn connect_failed(&mut self, seat: u32, errno: Errno, at: Nanos, rec: &mut Recorder) {
        let entry = &mut self.seats[seat as usize];
        entry.link = None;
        let (phase, tuple) = (entry.phase, std::mem::replace(&mut entry.tuple, Tuple::KERNELS));
        let failure = match self.another(seat, tuple, errno) {
            Some(route) => self.dial(seat, route),
            None => Err(failure::connect_failure(errno)),
        };
        if let Err(failure) = failure {
            let failure = self.in_handshake(seat, failure, rec);
            self.open_failed(seat, &failure, at, rec);
            self.dial_for_queue(phase, rec);
        }
    }

    /// A connection that was reset before it was seen to be open had been accepted: with TLS that is a handshake that
    /// failed, as it is told where the driver sees the connect first.
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

    /// Every tuple is in use or rests, as is known before a try: those who wait for this seat are dropped.
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
        // He comes again as if he had been refused.
        self.seats[seat as usize].began = at;
        self.on_hold_lost(seat, at);
    }

    /// Opening took too long: give it up, in the connect or in the TLS handshake.
    pub(super) fn opening_timed_out(&mut self, seat: u32, at: Nanos, rec: &mut Recorder) {
        let failure = match self.seats[seat as usize].state {
            ConnState::Securing => failure::HANDSHAKE_TIMEOUT,
            ConnState::Tunnelling => TUNNEL_TIMEOUT,
            _ => Failure::new(ErrorClass::ConnectTimeout),
        };
        self.cancel_dial(seat, &failure, Close::Rst, at, rec);
    }

    /// The connection ended within the TLS handshake.
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
