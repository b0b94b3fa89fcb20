//! [`ConnSlot`]: the place of one connection; the connection in it may come and go.

use wavetank_driver::ConnId;
use wavetank_plan::Nanos;

use crate::conn_io::ConnIo;
use crate::request_queue::QueuedRequest;
use crate::sources::Tuple;

/// What a seat's connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnState {
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
pub(crate) enum SlotIntent {
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
pub(crate) enum LastUse {
    /// Nothing of meaning.
    Nothing,
    /// A connection was lost, or ended though it was held: the next one is a re-opening.
    Lost,
    /// The present connection served a request.
    Served,
}

/// In [`ConnSlot::idle_at`]: none of the pool's seats.
pub(crate) const NOT_POOLED: u32 = u32::MAX;
/// In [`ConnSlot::idle_at`]: one of the pool's, and not on its stack.
pub(crate) const NOT_IDLE: u32 = u32::MAX - 1;

/// See the module's description.
pub(crate) struct ConnSlot {
    pub(crate) state: ConnState,
    pub(crate) link: Option<ConnId>,
    pub(crate) target: u16,
    /// Address and port of our own that the connection has, if we chose them.
    pub(crate) tuple: Tuple,
    /// The phase that wanted the connection.
    pub(crate) phase: u16,
    /// What goes on here; a connection that is held and idle is without it.
    pub(crate) talk: Option<Box<ConnIo>>,
    /// When its opening began.
    pub(crate) began: Nanos,
    /// Requests that the present connection may still serve; [`u64::MAX`]: any number.
    pub(crate) left: u64,
    pub(crate) past: LastUse,
    /// Its place on the pool's stack of idle seats; [`NOT_IDLE`], [`NOT_POOLED`].
    pub(crate) idle_at: u32,
    pub(crate) wish: SlotIntent,
}

impl ConnSlot {
    pub(crate) fn new() -> Self {
        Self {
            state: ConnState::Closed,
            link: None,
            target: 0,
            tuple: Tuple::KERNELS,
            phase: 0,
            talk: None,
            began: Nanos::ZERO,
            left: u64::MAX,
            past: LastUse::Nothing,
            idle_at: NOT_POOLED,
            wish: SlotIntent::None,
        }
    }

    /// Whether another request may be sent now: at most `pipeline` are under way, and not more than the connection may
    /// still serve. None once the kernel took one no more.
    #[inline]
    pub(crate) fn has_room(&self, pipeline: usize) -> bool {
        self.state == ConnState::Open
            && self.talk.as_ref().is_none_or(|talk| {
                let sent = talk.flights.sent();
                sent < pipeline && !talk.flights.is_refused() && (sent as u64) < self.left
            })
    }

    /// How many requests are under way.
    #[inline]
    pub(crate) fn sent(&self) -> usize {
        self.talk.as_ref().map_or(0, |talk| talk.flights.sent())
    }

    /// The first request that waits for this seat's connection.
    #[inline]
    pub(crate) fn first_waiting(&self) -> Option<QueuedRequest> {
        self.talk.as_ref()?.flights.first_waiting()
    }

    /// It waits no longer.
    #[inline]
    pub(crate) fn take_waiting(&mut self) -> Option<QueuedRequest> {
        self.talk.as_mut()?.flights.take_waiting()
    }

    /// Whether a connection that is held has nothing to do.
    #[inline]
    pub(crate) fn is_held_idle(&self) -> bool {
        self.wish == SlotIntent::Hold && self.talk.as_ref().is_some_and(|talk| talk.flights.is_empty())
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
        self.past = LastUse::Served;
        self.left -= 1;
        self.left > 0
    }

    /// When something about this seat times out next.
    #[inline]
    pub(crate) fn deadline(&self, connect_timeout: Nanos) -> Option<Nanos> {
        let connect = match self.state {
            ConnState::Connecting | ConnState::Tunnelling | ConnState::Securing => {
                Some(self.began.after(connect_timeout))
            }
            ConnState::Closed | ConnState::Open => None,
        };
        let request = self.talk.as_ref().and_then(|talk| talk.flights.deadline());
        match (connect, request) {
            (Some(connect), Some(request)) => Some(connect.min(request)),
            (only, None) | (None, only) => only,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_stays_small() {
        // There are a million of them; what grows here must be wanted (see tests/memory.rs and tests/held_memory.rs).
        assert!(size_of::<ConnSlot>() <= 64, "{} bytes", size_of::<ConnSlot>());
        assert!(size_of::<ConnIo>() <= 152, "{} bytes", size_of::<ConnIo>());
    }
}
