//! [`Seat`]: the place of one connection; the connection in it may come and go.

use wavetank_driver::ConnId;
use wavetank_plan::Nanos;
use wavetank_wire::h1::ResponseReader;

use crate::flights::Flights;
use crate::sources::Tuple;

/// What a seat's connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// There is none.
    Closed,
    /// It is being opened.
    Connecting,
    /// It is connected to a proxy, which opens a tunnel.
    Tunnelling,
    /// It is connected, and TLS is being agreed on.
    Securing,
    /// It is open.
    Open,
}

/// What is wanted of a seat's connection beside carrying requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Nothing.
    None,
    /// Somebody keeps it and wants to hear of it.
    Hold,
    /// It is being opened, and nobody wants it any more.
    Leave,
    /// The same, and the seat is given back as soon as there is no connection in it.
    Vacate,
}

/// What happened here last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Past {
    /// Nothing of meaning.
    Nothing,
    /// A connection was lost: the next one is a re-opening.
    Lost,
    /// The present connection served a request.
    Served,
}

/// In [`Seat::idle_at`]: none of the pool's seats.
pub(crate) const NOT_POOLED: u32 = u32::MAX;
/// In [`Seat::idle_at`]: one of the pool's, and not on its stack.
pub(crate) const NOT_IDLE: u32 = u32::MAX - 1;

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
    /// Sent and unanswered, and waiting for this seat's connection.
    pub(crate) flights: Flights,
    pub(crate) reader: ResponseReader,
    /// When its opening began.
    pub(crate) began: Nanos,
    /// When the first byte of the answer under way came; before there is any, when it was connected.
    pub(crate) first_byte: Nanos,
    /// Requests that the present connection may still serve; [`u64::MAX`]: any number.
    pub(crate) left: u64,
    pub(crate) past: Past,
    /// When the earliest timer set for this seat goes off; [`Nanos::MAX`] if there is none.
    pub(crate) armed: Nanos,
    /// Its place on the pool's stack of idle seats; [`NOT_IDLE`], [`NOT_POOLED`].
    pub(crate) idle_at: u32,
    pub(crate) wish: Wish,
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
            flights: Flights::default(),
            reader: ResponseReader::default(),
            began: Nanos::ZERO,
            first_byte: Nanos::ZERO,
            left: u64::MAX,
            past: Past::Nothing,
            armed: Nanos::MAX,
            idle_at: NOT_POOLED,
            wish: Wish::None,
        }
    }

    /// Whether another request may be sent now: at most `pipeline` are under way, and not more than the connection may
    /// still serve. None once the kernel took one no more.
    #[inline]
    pub(crate) fn has_room(&self, pipeline: usize) -> bool {
        self.state == State::Open
            && self.flights.sent() < pipeline
            && !self.flights.is_refused()
            && (self.flights.sent() as u64) < self.left
    }

    /// Whether it is one of the pool's.
    #[inline]
    pub(crate) const fn is_pooled(&self) -> bool {
        self.idle_at != NOT_POOLED
    }

    /// Whether it stands on the pool's stack.
    pub(crate) const fn is_idle(&self) -> bool {
        self.idle_at < NOT_IDLE
    }

    /// One more request was answered on the present connection. Whether it may serve another one.
    #[inline]
    pub(crate) fn serve(&mut self) -> bool {
        self.past = Past::Served;
        self.left -= 1;
        self.left > 0
    }

    /// When something about this seat times out next.
    pub(crate) fn deadline(&self, connect_timeout: Nanos) -> Option<Nanos> {
        let connect = match self.state {
            State::Connecting | State::Tunnelling | State::Securing => {
                Some(self.began.after(connect_timeout))
            }
            State::Closed | State::Open => None,
        };
        [connect, self.flights.deadline()].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_stays_small() {
        // There are a million of them; what grows here must be wanted (see tests/memory.rs for the whole).
        assert!(size_of::<Seat>() <= 176, "{} bytes", size_of::<Seat>());
    }
}
