//! [`Lockstep`]: a driver with peers that respond while it waits, in the same thread.

use wavetank_driver::{Driver, DriverConfig, Errno, Event};
use wavetank_units::Nanos;

use super::peers::Peers;

/// The driver; see the module documentation.
pub(crate) struct Lockstep<D> {
    inner: D,
    peers: Peers,
    /// The load thread must check for commands.
    woken: bool,
}

impl<D: Driver> Lockstep<D> {
    pub(crate) fn new(inner: D, peers: Peers) -> Self {
        Self { inner, peers, woken: false }
    }
}

impl<D: Driver> Driver for Lockstep<D> {
    const SENDS_LATER: bool = D::SENDS_LATER;

    wavetank_driver::forward_driver! {
        inner:
        connect listen stop_accepting send send_shared bytes_sent close shut_down_sending clock
        send_now take_unsent received waker stale
    }

    fn new(_: &DriverConfig) -> Result<Self, Errno> {
        unreachable!("made around an existing driver")
    }

    #[inline]
    fn wait_from(&mut self, now: Nanos, until: Nanos) -> Result<bool, Errno> {
        // Requested sends leave before any peer responds.
        if D::SENDS_LATER && self.inner.wait_from(now, now)? {
            return Ok(true);
        }
        self.woken = self.peers.serve(self.inner.clock());
        let until = if self.woken { now } else { until };
        Ok(self.inner.wait_from(now, until)? || self.woken)
    }

    #[inline]
    fn next(&mut self) -> Option<Event> {
        if std::mem::take(&mut self.woken) { Some(Event::Woken) } else { self.inner.next() }
    }
}
