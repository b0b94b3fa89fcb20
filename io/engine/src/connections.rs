//! [`Connections`]: seats, the pool of shared ones, and what comes of the requests on them.
//!
//! Knows no pacing, no users and no histograms of requests: it takes [`Flight`]s and answers with
//! [`Outcome`]s. A connection lost under a request is re-opened only when a next request wants it.

mod dialing;
mod guests;
mod held;
mod leaving;
mod prefacing;
mod sharing;
mod timeouts;

use std::collections::VecDeque;
use std::sync::Arc;

use wavetank_driver::{Clock, ConnId, Driver, Ended, Errno, Event};
use wavetank_measure::ErrorClass;
use wavetank_pace::Timers;
use wavetank_plan::{ConnectionUse, Nanos, Plan};
use wavetank_wire::h1::{Answer, Eof, LastAnswer, Limits, ResponseReader};

use crate::failure::{self, Failure};
use crate::flights::Flight;
use crate::letters::Letters;
use crate::passing::Seats;
use crate::pool::Pool;
use crate::preface::Preface;
use crate::recorder::Recorder;
use crate::requests::Requests;
use crate::seat::{Past, Seat, State, Wish};
use crate::slab::Id;
use crate::sources::{Sources, Tuple};
use crate::talk::Talks;
use crate::vacant::Vacant;
pub(crate) use held::Held;
use leaving::Leaving;
use timeouts::Timer;

/// Tables get room ahead for so many connections at most.
const ROOM_MAX: usize = 1 << 20;

/// What came of a request.
pub(crate) enum Outcome {
    /// Its first byte was handed to the kernel at that instant.
    Sent(Id, Nanos),
    /// It was answered: first byte, completion.
    Answered(Id, Answer, Nanos, Nanos),
    /// It was not answered.
    Broken(Id, Box<Failure>, Nanos),
    /// It cannot be sent: every source address is in use or rests.
    Dropped(Id, Nanos),
}

/// See the module's description.
pub(crate) struct Connections<D> {
    pub(crate) driver: D,
    clock: Clock,
    pub(crate) plan: Arc<Plan>,
    pub(crate) requests: Arc<Requests>,
    /// What sessions send and what is kept of their answers.
    pub(crate) letters: Letters,
    sources: Sources,
    /// Each target's number among those in TLS.
    names: Vec<Option<u16>>,
    preface: Preface,
    last_answer: LastAnswer,
    talks: Talks,
    timers: Timers<Timer>,
    /// Those that were ever used.
    pub(crate) seats: Vec<Seat>,
    /// Driver slot → seat.
    seat_of_slot: Vec<u32>,
    /// Those seats that belong to no user for ever.
    vacant: Vacant,
    /// Connections that all share.
    pool: Option<Pool>,
    /// By scenario: a connection serves one request.
    single: Vec<bool>,
    /// By scenario: who arrives has a connection of its own.
    own: Vec<bool>,
    pipeline: usize,
    /// Requests that a connection serves, unless its scenario says otherwise.
    lasts: u64,
    opening: usize,
    /// Connections for this phase are still to be opened for those who wait.
    opening_more: Option<u16>,
    /// When the last send returned.
    sent_until: Nanos,
    pub(crate) outcomes: VecDeque<Outcome>,
    /// What became of held connections.
    pub(crate) held: VecDeque<Held>,
    /// Handed to the driver since the last wait, if its sends leave later.
    pub(crate) leaving: Vec<Leaving>,
}

impl<D: Driver> Connections<D> {
    pub(crate) fn new(
        driver: D,
        clock: Clock,
        plan: Arc<Plan>,
        requests: Arc<Requests>,
        sources: Sources,
        seats: Seats,
    ) -> Self {
        // One of each for every seat, and no growing by doubling; room that is not used costs only addresses.
        let room = (seats.all() as usize).min(ROOM_MAX);
        let timed = room.saturating_sub(seats.held as usize);
        let uses = |wanted: &dyn Fn(ConnectionUse) -> bool| {
            plan.scenarios.iter().map(|scenario| wanted(scenario.connection)).collect()
        };
        Self {
            driver,
            clock,
            requests,
            letters: Letters::default(),
            names: plan.name_of_target(),
            preface: Preface::new(&plan),
            last_answer: LastAnswer::new(),
            talks: Talks::new(Limits {
                body_bytes_max: plan.http.body_max.unwrap_or(u64::MAX),
                ..Limits::default()
            }),
            sources,
            timers: Timers::with_capacity(timed),
            seats: Vec::with_capacity(room),
            seat_of_slot: Vec::with_capacity(room),
            vacant: Vacant::from(seats.own),
            pool: (seats.pool > 0).then(|| Pool::new(seats.pool, plan.targets.len())),
            single: uses(&|connection| connection == ConnectionUse::Request),
            own: uses(&|connection| connection != ConnectionUse::Shared),
            pipeline: plan.http.pipeline as usize,
            lasts: if plan.http.keepalive {
                plan.http.requests_per_connection.unwrap_or(u64::MAX)
            } else {
                1
            },
            opening: 0,
            opening_more: None,
            sent_until: Nanos(i64::MIN),
            plan,
            outcomes: VecDeque::new(),
            held: VecDeque::new(),
            leaving: Vec::new(),
        }
    }

    /// Send as soon as a connection allows: on `seat`, or on any shared one.
    pub(crate) fn submit(
        &mut self,
        flight: Flight,
        seat: Option<u32>,
        phase: u16,
        at: Nanos,
        rec: &mut Recorder,
    ) {
        let Some(seat) = seat else { return self.submit_shared(flight, phase, at, rec) };
        self.furnish(seat);
        let entry = &mut self.seats[seat as usize];
        if entry.has_room(self.pipeline) {
            return self.dispatch(seat, flight, at, rec);
        }
        let state = entry.state;
        self.talk(seat).flights.wait(flight);
        if state == State::Closed {
            self.open(seat, flight.target, phase, rec);
        } else {
            self.arm(seat);
        }
    }

    /// `at`, or the end of the last send if that is later: one reading of the clock serves until the next
    /// call into the kernel, and what our own calls take is never the target's.
    #[inline]
    pub(crate) fn fresh(&self, at: Nanos) -> Nanos {
        at.max(self.sent_until)
    }

    /// Hand a request to the kernel on an open connection.
    #[inline]
    fn dispatch(&mut self, seat: u32, flight: Flight, at: Nanos, rec: &mut Recorder) {
        let entry = &mut self.seats[seat as usize];
        let link = entry.link.expect("an open seat has a link");
        let talk = entry.talk.get_or_insert_with(|| self.talks.take());
        if talk.flights.sent() == 0 {
            talk.reader.expect(flight.manner.is_head());
        }
        talk.flights.push_sent(flight);
        let at = self.fresh(at);
        let result = match self.letters.request(flight.exchange) {
            None => {
                let request = self.requests.get(flight.scenario, flight.step);
                self.driver.send_shared(link, &request.bytes)
            }
            Some(bytes) => self.driver.send(link, bytes),
        };
        // Where sends leave later, the driver times the calls that carry them.
        if !D::SENDS_LATER {
            self.sent_until = self.clock.now();
            rec.send_call(self.sent_until.since(at));
        }
        match result {
            Ok(_) => self.handed_over(link, flight.exchange, at),
            // Behind answers that came before the driver tells the end, and that decides on this one.
            Err(_) => self.talk(seat).flights.refuse(),
        }
        self.arm_for(seat, flight.deadline);
    }

    /// Wait for sockets, from `now` until `until`. Whether anything is ready.
    pub(crate) fn wait(&mut self, now: Nanos, until: Nanos) -> Result<bool, Errno> {
        let ready = self.driver.wait_from(now, until)?;
        if D::SENDS_LATER {
            self.take_back();
        }
        Ok(ready)
    }

    /// What the driver has for us next.
    #[inline]
    pub(crate) fn next_event(&mut self) -> Option<Event> {
        self.driver.next()
    }

    /// Take in one event that was read at `at`.
    pub(crate) fn handle(&mut self, event: Event, at: Nanos, rec: &mut Recorder) {
        match event {
            Event::Received(link, len) => self.received(link, len, at, rec),
            Event::Connected(link) => self.connected(link, at, rec),
            Event::ConnectFailed(link, errno) => self.connect_failed(self.seat_of(link), errno, at, rec),
            Event::Ended(link, how) => self.ended(self.seat_of(link), how, at, rec),
            Event::Secured(link) => self.secured(link, at, rec),
            Event::Flushed(_) | Event::Woken => {}
            Event::Accepted(..) | Event::AcceptFailed(..) => unreachable!("load threads listen nowhere"),
        }
    }

    #[inline]
    fn seat_of(&self, link: ConnId) -> u32 {
        self.seat_of_slot[link.slot as usize]
    }

    /// A seat's connection can carry requests.
    fn opened(&mut self, seat: u32, at: Nanos, rec: &mut Recorder) {
        let entry = &mut self.seats[seat as usize];
        rec.opened(std::mem::replace(&mut entry.past, Past::Nothing) == Past::Lost);
        entry.state = State::Open;
        if let Some(talk) = &mut entry.talk {
            talk.reader = ResponseReader::new(self.talks.limits());
        }
        self.no_longer_opening(seat);
        if self.greet(seat, at, rec) {
            self.free(seat, at, rec);
        }
    }

    #[inline]
    fn received(&mut self, link: ConnId, len: usize, at: Nanos, rec: &mut Recorder) {
        rec.bytes_received(len);
        let seat = self.seat_of(link);
        let entry = &mut self.seats[seat as usize];
        let mut input = self.driver.received(len);
        while !input.is_empty() {
            let talk = entry.talk.get_or_insert_with(|| self.talks.take());
            let Some(flight) = talk.flights.first_sent() else {
                if talk.flights.is_refused() {
                    // The peer's last words, e.g. that it waited for too long. Its end follows.
                    return;
                }
                if entry.state == State::Tunnelling {
                    return self.tunnel_answered(link, len, at, rec);
                }
                // Nobody asked for these bytes: the framing is lost.
                return self.end(seat, Failure::of(ErrorClass::Protocol), true, at, rec);
            };
            if !talk.reader.began() {
                talk.first_byte = at;
            }
            let (reader, last) = (&mut talk.reader, &mut self.last_answer);
            let read = if self.letters.is_empty() {
                reader.read_alike(input, last)
            } else {
                self.letters.read(flight.exchange, flight.manner, reader, input, last)
            };
            let progress = match read {
                Ok(progress) => progress,
                Err(fault) => return self.end(seat, failure::of_fault(fault), true, at, rec),
            };
            let Some(answer) = progress.answer else { return };
            input = &input[progress.consumed..];
            if !input.is_empty() && talk.flights.sent() == 1 {
                return self.end(seat, failure::SURPLUS, true, at, rec);
            }
            talk.flights.pop_sent();
            let answered = Outcome::Answered(flight.exchange, answer, talk.first_byte, at);
            if let Some(next) = talk.flights.first_sent().filter(|_| answer.keep_alive) {
                talk.reader.expect(next.manner.is_head());
            }
            let lasts = entry.serve();
            self.outcomes.push_back(answered);
            if !answer.keep_alive || !lasts {
                return self.end(seat, failure::AFTER_CLOSE, false, at, rec);
            }
        }
        self.free(seat, at, rec);
    }

    /// An open connection has room: give it what waits, or let it idle.
    fn free(&mut self, seat: u32, at: Nanos, rec: &mut Recorder) {
        loop {
            let entry = &mut self.seats[seat as usize];
            if !entry.has_room(self.pipeline) {
                return;
            }
            if entry.is_pooled() {
                return self.free_shared(seat, at, rec);
            }
            let Some(flight) = entry.take_waiting() else {
                if entry.is_held_idle() {
                    self.rest(seat);
                }
                return;
            };
            self.dispatch(seat, flight, at, rec);
        }
    }

    /// The peer finished, or the connection broke.
    fn ended(&mut self, seat: u32, how: Ended, at: Nanos, rec: &mut Recorder) {
        let entry = &mut self.seats[seat as usize];
        if entry.state == State::Securing {
            return self.handshake_ended(seat, how, at, rec);
        }
        if entry.state == State::Tunnelling {
            return self.tunnelling_ended(seat, how, at, rec);
        }
        if how == Ended::Eof
            && let Some(talk) = &mut entry.talk
            && let Some(flight) = talk.flights.first_sent()
            && let Eof::Complete(answer) = talk.reader.eof()
        {
            talk.flights.pop_sent();
            let first_byte = talk.first_byte;
            entry.serve();
            self.outcomes.push_back(Outcome::Answered(flight.exchange, answer, first_byte, at));
            return self.end(seat, failure::AFTER_CLOSE, false, at, rec);
        }
        let failure = failure::of_end(how, &self.driver);
        self.end(seat, failure, true, at, rec);
    }

    /// Close a seat's connection. The request whose turn it is fails as `failure` says; those behind it
    /// lose their connection. Requests that wait go on with a new one.
    fn end(&mut self, seat: u32, failure: Failure, lost: bool, at: Nanos, rec: &mut Recorder) {
        let close = self.plan.http.close;
        let entry = &mut self.seats[seat as usize];
        if D::SENDS_LATER
            && entry.sent() > 0
            && let Some(link) = entry.link
        {
            self.let_leave(link);
        }
        let entry = &mut self.seats[seat as usize];
        if let Some(link) = entry.link.take() {
            self.driver.close(link, close);
            self.sources.release(std::mem::replace(&mut entry.tuple, Tuple::KERNELS), at);
        }
        entry.state = State::Closed;
        let served = entry.past == Past::Served;
        // One that is held is opened again whoever ended it.
        let again = lost || entry.wish == Wish::Hold;
        entry.past = if again { Past::Lost } else { Past::Nothing };
        rec.ended(lost);
        // An answer begun can't be asked for again; one that never began may, if the connection had worked.
        let mut untouched = entry.talk.as_ref().is_none_or(|talk| !talk.reader.began());
        let mut failure = failure;
        while let Some(flight) = entry.talk.as_mut().and_then(|talk| talk.flights.pop_cut()) {
            let retry = failure.peer_closed && untouched && served && flight.manner.is_idempotent();
            let broken = Box::new(Failure { retry, ..failure.clone() });
            self.outcomes.push_back(Outcome::Broken(flight.exchange, broken, at));
            untouched = true;
            failure = if failure.peer_closed { failure } else { failure::BEHIND_A_FAILURE };
        }
        let phase = entry.phase;
        if let Some(flight) = entry.first_waiting() {
            self.open(seat, flight.target, phase, rec);
        } else if entry.is_pooled() {
            self.leave_pool(seat);
            self.open_for_waiting(phase, rec);
        } else {
            self.miss(seat, at);
        }
    }
}
