//! [`ConnSlot`]: the slot of one connection, which may be closed and opened again.

use wavetank_driver::ConnId;
use wavetank_units::Nanos;
use wavetank_wire::messages::IdleState;

use crate::conn_io::ConnIo;
use crate::request_queue::QueuedRequest;
use crate::sources::Tuple;

/// The state of a slot's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnState {
    /// No connection exists.
    Closed,
    /// It is being opened.
    Connecting,
    /// It is connected to a proxy, which is opening a tunnel.
    Tunnelling,
    /// It is connected, and the TLS handshake is in progress.
    Securing,
    /// It is connected, and the first bytes of HTTP/2 are exchanged, or the request for a WebSocket
    /// or an event stream is not answered yet.
    Greeting,
    /// It is open.
    Open,
}

/// The use of a slot's connection, apart from carrying requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotIntent {
    /// No special use.
    None,
    /// A user holds the connection and must be notified of changes.
    Hold,
    /// It is being opened, but is no longer needed.
    Leave,
    /// Like `Leave`, and the slot is released as soon as it has no connection.
    Vacate,
}

/// The last event on this slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LastUse {
    /// No relevant event.
    Nothing,
    /// A connection was lost, or ended while it was held. The next opening is a reconnect.
    Lost,
    /// The current connection served a request.
    Served,
}

/// Value of [`ConnSlot::idle_at`]: the slot does not belong to the pool.
pub(crate) const NOT_POOLED: u32 = u32::MAX;
/// Value of [`ConnSlot::idle_at`]: the slot belongs to the pool, but is not on its stack of idle
/// slots.
pub(crate) const NOT_IDLE: u32 = u32::MAX - 1;

/// The value of [`ConnSlot::idle_at`] if the peer closes the connection soon, so that another one
/// has its place in the pool.
pub(crate) const PARTED: u32 = u32::MAX - 2;

/// The slot of one connection; see the module documentation.
pub(crate) struct ConnSlot {
    pub(crate) state: ConnState,
    pub(crate) conn: Option<ConnId>,
    pub(crate) target: u16,
    /// The local address and port of the connection, if they were chosen here.
    pub(crate) tuple: Tuple,
    /// The phase that requested the connection, later that of its last request.
    pub(crate) phase: u16,
    /// The activity on the connection; `None` for a held connection that is idle.
    pub(crate) io: Option<Box<ConnIo>>,
    /// When its opening started.
    pub(crate) began: Nanos,
    /// Requests that the current connection may still serve; [`u64::MAX`]: any number.
    pub(crate) left: u64,
    pub(crate) last_use: LastUse,
    /// Its position on the pool's stack of idle slots, or [`NOT_IDLE`], [`PARTED`] or
    /// [`NOT_POOLED`].
    pub(crate) idle_at: u32,
    pub(crate) intent: SlotIntent,
    /// How an idle connection with messages continues, if the slot has no `io`.
    pub(crate) parked: Option<IdleState>,
}

impl ConnSlot {
    pub(crate) fn new() -> Self {
        Self {
            state: ConnState::Closed,
            conn: None,
            target: 0,
            tuple: Tuple::KERNELS,
            phase: 0,
            io: None,
            began: Nanos::ZERO,
            left: u64::MAX,
            last_use: LastUse::Nothing,
            idle_at: NOT_POOLED,
            intent: SlotIntent::None,
            parked: None,
        }
    }

    /// Whether another request may be sent now.
    ///
    /// At most `pipeline` requests are in flight, and at most as many as the connection may still
    /// serve. After the kernel refused a request, no further request is sent.
    #[inline]
    pub(crate) fn has_room(&self, pipeline: usize) -> bool {
        self.state == ConnState::Open
            && self.io.as_ref().is_none_or(|io| {
                let sent = io.in_flight();
                sent < pipeline && (sent as u64) < self.left && io.takes_more()
            })
    }

    /// The number of requests in flight.
    #[inline]
    pub(crate) fn sent(&self) -> usize {
        self.io.as_ref().map_or(0, |io| io.in_flight())
    }

    /// Returns the first request that waits for this slot's connection.
    #[inline]
    pub(crate) fn first_waiting(&self) -> Option<QueuedRequest> {
        self.io.as_ref()?.queue.first_waiting()
    }

    /// Removes the first waiting request.
    #[inline]
    pub(crate) fn take_waiting(&mut self) -> Option<QueuedRequest> {
        self.io.as_mut()?.queue.take_waiting()
    }

    /// Whether the slot has a held connection without activity.
    #[inline]
    pub(crate) fn is_held_idle(&self) -> bool {
        let is_idle = |io: &ConnIo| io.queue.is_empty() && io.machine.is_idle();
        self.intent == SlotIntent::Hold && self.io.as_ref().is_some_and(|io| is_idle(io))
    }

    /// Whether the slot belongs to the pool.
    #[inline]
    pub(crate) const fn is_pooled(&self) -> bool {
        self.idle_at != NOT_POOLED
    }

    /// Whether the slot is on the pool's stack of idle slots.
    pub(crate) const fn is_idle(&self) -> bool {
        self.idle_at < PARTED
    }

    /// Counts one more response on the current connection. Returns whether it may serve another
    /// request.
    #[inline]
    pub(crate) fn serve(&mut self) -> bool {
        self.last_use = LastUse::Served;
        self.left -= 1;
        self.left > 0
    }

    /// Returns the next deadline of this slot.
    #[inline]
    pub(crate) fn deadline(&self, connect_timeout: Nanos) -> Option<Nanos> {
        let connect = match self.state {
            ConnState::Connecting | ConnState::Tunnelling | ConnState::Securing | ConnState::Greeting => {
                Some(self.began.after(connect_timeout))
            }
            ConnState::Closed | ConnState::Open => None,
        };
        let request = self.io.as_ref().and_then(|io| io.deadline());
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
    fn a_slot_stays_small() {
        // A million slots may exist, so additional fields need a good reason (see tests/memory.rs
        // and tests/held_memory.rs).
        assert!(size_of::<ConnSlot>() <= 64, "{} bytes", size_of::<ConnSlot>());
        assert!(size_of::<ConnIo>() <= 152, "{} bytes", size_of::<ConnIo>());
    }
}
