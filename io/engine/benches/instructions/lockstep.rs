//! [`Lockstep`]: a driver with peers that respond while it waits, in the same thread.

use std::net::SocketAddr;
use std::sync::Arc;

use wavetank_driver::{
    Clock, ConnId, Dial, Driver, DriverConfig, Errno, Event, ListenerId, SendStatus, Waker,
};
use wavetank_plan::Close;
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

    fn send_now(&mut self) {
        self.inner.send_now();
    }

    #[inline]
    fn take_unsent(&mut self) -> Option<(ConnId, u32)> {
        self.inner.take_unsent()
    }

    #[inline]
    fn next(&mut self) -> Option<Event> {
        if std::mem::take(&mut self.woken) { Some(Event::Woken) } else { self.inner.next() }
    }

    #[inline]
    fn connect(&mut self, dial: &Dial) -> Result<ConnId, Errno> {
        self.inner.connect(dial)
    }

    fn listen(&mut self, at: SocketAddr) -> Result<(ListenerId, SocketAddr), Errno> {
        self.inner.listen(at)
    }

    fn stop_accepting(&mut self) {
        self.inner.stop_accepting();
    }

    #[inline]
    fn send(&mut self, conn: ConnId, bytes: &[u8]) -> Result<SendStatus, Errno> {
        self.inner.send(conn, bytes)
    }

    #[inline]
    fn send_shared(&mut self, conn: ConnId, bytes: &Arc<[u8]>) -> Result<SendStatus, Errno> {
        self.inner.send_shared(conn, bytes)
    }

    #[inline]
    fn bytes_sent(&self) -> u64 {
        self.inner.bytes_sent()
    }

    #[inline]
    fn close(&mut self, conn: ConnId, how: Close) {
        self.inner.close(conn, how);
    }

    #[inline]
    fn shut_down_sending(&mut self, conn: ConnId) {
        self.inner.shut_down_sending(conn);
    }

    #[inline]
    fn clock(&self) -> Clock {
        self.inner.clock()
    }

    #[inline]
    fn received(&self, len: usize) -> &[u8] {
        self.inner.received(len)
    }

    fn waker(&self) -> Result<Waker, Errno> {
        self.inner.waker()
    }

    #[inline]
    fn stale(&self) -> u64 {
        self.inner.stale()
    }
}
