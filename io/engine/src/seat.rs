//! [`Seat`]: the place of one connection; the connection in it may come and go.

use std::collections::VecDeque;

use wavetank_driver::ConnId;
use wavetank_plan::Nanos;
use wavetank_wire::h1::ResponseReader;

use crate::slab::Id;
use crate::sources::Tuple;

/// A request on its way through a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    /// The exchange it belongs to.
    pub(crate) exchange: Id,
    /// When it times out.
    pub(crate) deadline: Nanos,
    /// Which request.
    pub(crate) scenario: u16,
    /// Which request.
    pub(crate) step: u16,
    /// It was on a connection that was lost, and is older than all that wait.
    pub(crate) again: bool,
}

/// What a seat's connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// There is none.
    Closed,
    /// It is being opened, since that instant.
    Connecting(Nanos),
    /// It is connected since the second instant, having begun at the first, and TLS is being agreed on.
    Securing(Nanos, Nanos),
    /// It is open.
    Open,
}

/// See the module's description.
pub(crate) struct Seat {
    pub(crate) state: State,
    pub(crate) link: Option<ConnId>,
    pub(crate) target: u16,
    /// Address and port of our own that the connection has, if we chose them.
    pub(crate) tuple: Tuple,
    /// Tuples the kernel refused in the present opening.
    pub(crate) refused: u8,
    /// The phase that wanted the connection.
    pub(crate) phase: u16,
    /// Sent and unanswered, in order.
    pub(crate) flights: VecDeque<Flight>,
    /// Waiting for this seat's connection.
    pub(crate) waiting: VecDeque<Flight>,
    pub(crate) reader: ResponseReader,
    /// When the first byte of the answer under way came.
    pub(crate) first_byte: Nanos,
    /// Answers so far on the present connection.
    pub(crate) served: u64,
    /// The last connection here was lost, so that the next one is a re-opening.
    pub(crate) replaces_lost: bool,
    /// When the earliest timer set for this seat goes off.
    pub(crate) armed: Option<Nanos>,
    /// Stands on the pool's idle stack.
    pub(crate) stacked: bool,
}

impl Seat {
    pub(crate) fn new() -> Self {
        Self {
            state: State::Closed,
            link: None,
            target: 0,
            tuple: Tuple::KERNELS,
            refused: 0,
            phase: 0,
            flights: VecDeque::new(),
            waiting: VecDeque::new(),
            reader: ResponseReader::default(),
            first_byte: Nanos::ZERO,
            served: 0,
            replaces_lost: false,
            armed: None,
            stacked: false,
        }
    }

    /// Whether another request may be sent now: at most `pipeline` are under way, and at most `worn_after`
    /// in a connection's life.
    #[inline]
    pub(crate) fn has_room(&self, pipeline: usize, worn_after: Option<u64>) -> bool {
        self.state == State::Open
            && self.flights.len() < pipeline
            && worn_after.is_none_or(|max| self.served + (self.flights.len() as u64) < max)
    }

    /// Let a request wait for this seat's connection.
    pub(crate) fn wait(&mut self, flight: Flight) {
        if flight.again {
            self.waiting.push_front(flight);
        } else {
            self.waiting.push_back(flight);
        }
    }

    /// When something about this seat times out next.
    pub(crate) fn deadline(&self, connect_timeout: Nanos) -> Option<Nanos> {
        let connect = match self.state {
            State::Connecting(began) | State::Securing(began, _) => Some(began.after(connect_timeout)),
            State::Closed | State::Open => None,
        };
        // Few are under way at once, and one that is tried again is older than those before it.
        let sent = self.flights.iter().map(|flight| flight.deadline).min();
        let waiting = self.waiting.front().map(|flight| flight.deadline);
        [connect, sent, waiting].into_iter().flatten().min()
    }
}
