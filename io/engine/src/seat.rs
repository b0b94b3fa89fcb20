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
    /// Sent and unanswered, and waiting for this seat's connection.
    pub(crate) flights: Flights,
    pub(crate) reader: ResponseReader,
    /// When its opening began.
    pub(crate) began: Nanos,
    /// When the first byte of the answer under way came; before there is any, when it was connected.
    pub(crate) first_byte: Nanos,
    /// Answers so far on the present connection.
    pub(crate) served: u64,
    /// The last connection here was lost, so that the next one is a re-opening.
    pub(crate) replaces_lost: bool,
    /// When the earliest timer set for this seat goes off; [`Nanos::MAX`] if there is none.
    pub(crate) armed: Nanos,
    /// Stands on the pool's idle stack.
    pub(crate) stacked: bool,
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
            served: 0,
            replaces_lost: false,
            armed: Nanos::MAX,
            stacked: false,
            wish: Wish::None,
        }
    }

    /// Whether another request may be sent now: at most `pipeline` are under way, and at most `worn_after`
    /// in a connection's life. None once the kernel took one no more.
    #[inline]
    pub(crate) fn has_room(&self, pipeline: usize, worn_after: Option<u64>) -> bool {
        self.state == State::Open
            && self.flights.sent() < pipeline
            && !self.flights.is_refused()
            && worn_after.is_none_or(|max| self.served + (self.flights.sent() as u64) < max)
    }

    /// When something about this seat times out next.
    pub(crate) fn deadline(&self, connect_timeout: Nanos) -> Option<Nanos> {
        let connect = match self.state {
            State::Connecting | State::Securing => Some(self.began.after(connect_timeout)),
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
