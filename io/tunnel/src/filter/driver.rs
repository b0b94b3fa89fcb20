//! The interface of [`Tunnels`].

use std::sync::Arc;

use wavetank_driver::{
    CloseReason, ConnAddresses, ConnId, Dial, DialTls, Driver, DriverConfig, Errno, Event, HandshakeInfo,
    SendStatus, StreamEnd,
};
use wavetank_plan::Close;
use wavetank_units::Nanos;

use super::Tunnels;

impl<D: Driver> Tunnels<D> {
    /// Returns the connection of the inner driver that carries `conn`.
    fn under(&self, conn: ConnId) -> Option<ConnId> {
        if self.streams_max == 0 { Some(conn) } else { self.table.get(conn)?.carrier }
    }
}

impl<D: Driver> Driver for Tunnels<D> {
    const SENDS_LATER: bool = D::SENDS_LATER;
    const REPORTED_BY_WAIT: bool = D::REPORTED_BY_WAIT;
    const HAS_RECORDS: bool = D::HAS_RECORDS;

    wavetank_driver::forward_driver! {
        inner:
        listen stop_accepting clock now worked_until take_longest_send send_now waker stale
        tls_fault packets
    }

    /// Makes a driver without streams; [`Tunnels::wrap`] adds them.
    fn new(setup: &DriverConfig) -> Result<Self, Errno> {
        Ok(Self::wrap(D::new(setup)?, None))
    }

    fn connect(&mut self, dial: &Dial) -> Result<ConnId, Errno> {
        if self.streams_max == 0 { self.inner.connect(dial) } else { self.connect_tunnel(dial) }
    }

    fn secure(&mut self, conn: ConnId, tls: DialTls) -> Result<(), Errno> {
        if self.streams_max > 0 {
            return Err(Errno(libc::EPROTONOSUPPORT));
        }
        self.inner.secure(conn, tls)
    }

    fn ends(&mut self, conn: ConnId) -> Result<ConnAddresses, Errno> {
        let under = self.under(conn).ok_or(Errno(libc::ENOTCONN))?;
        self.inner.ends(under)
    }

    fn last_received_age(&mut self, conn: ConnId) -> Option<Nanos> {
        let under = self.under(conn)?;
        self.inner.last_received_age(under)
    }

    fn send(&mut self, conn: ConnId, bytes: &[u8]) -> Result<SendStatus, Errno> {
        if self.streams_max == 0 { self.inner.send(conn, bytes) } else { self.write(conn, bytes) }
    }

    fn send_shared(&mut self, conn: ConnId, bytes: &Arc<[u8]>) -> Result<SendStatus, Errno> {
        if self.streams_max == 0 { self.inner.send_shared(conn, bytes) } else { self.write(conn, bytes) }
    }

    /// Of streams, these are bytes that were accepted, without the frames around them.
    fn bytes_sent(&self) -> u64 {
        if self.streams_max == 0 { self.inner.bytes_sent() } else { self.accepted_bytes }
    }

    fn close(&mut self, conn: ConnId, how: Close) {
        if self.streams_max == 0 { self.inner.close(conn, how) } else { self.close_tunnel(conn, how) }
    }

    fn shut_down_sending(&mut self, conn: ConnId) {
        if self.streams_max == 0 {
            self.inner.shut_down_sending(conn);
        }
    }

    fn wait_from(&mut self, now: Nanos, until: Nanos) -> Result<bool, Errno> {
        if !self.closing.is_empty() {
            self.reset_closing(now);
        }
        let is_idle = self.events.is_empty();
        let ready = self.inner.wait_from(now, if is_idle { until } else { now })?;
        Ok(ready || !is_idle)
    }

    fn forget(&mut self, session: u32) {
        self.inner.forget(session);
    }

    /// A connection that breaks ends all streams on it, which decides about what was sent.
    fn take_unsent(&mut self) -> Option<(ConnId, u32)> {
        loop {
            let unsent = self.inner.take_unsent()?;
            if self.streams_max == 0 {
                return Some(unsent);
            }
        }
    }

    fn next(&mut self) -> Option<Event> {
        loop {
            while let Some(event) = self.events.pop() {
                let (Event::Received(conn, _)
                | Event::Flushed(conn)
                | Event::Ended(conn, _)
                | Event::Connected(conn)
                | Event::ConnectFailed(conn, _)
                | Event::Secured(conn)) = event
                else {
                    continue;
                };
                // It may have been closed since.
                let Some(tunnel) = self.table.get_mut(conn) else { continue };
                if matches!(event, Event::Ended(_, CloseReason::Stream)) {
                    self.end = tunnel.end.take();
                } else if matches!(event, Event::ConnectFailed(..)) {
                    self.table.remove(conn);
                }
                self.is_own = true;
                return Some(event);
            }
            let event = self.inner.next()?;
            self.is_own = false;
            if let Some(event) = self.filter(event) {
                return Some(event);
            }
        }
    }

    fn received(&self, len: usize) -> &[u8] {
        if self.is_own { self.events.current() } else { self.inner.received(len) }
    }

    fn is_ending(&self, conn: ConnId) -> bool {
        if self.streams_max == 0 {
            return self.inner.is_ending(conn);
        }
        self.table.get(conn).is_some_and(|tunnel| tunnel.has_ended) && self.events.is_ending(conn)
    }

    fn stream_end(&self) -> Option<StreamEnd> {
        self.end.clone()
    }

    fn is_on_earlier(&self, conn: ConnId) -> bool {
        self.table.get(conn).is_some_and(|tunnel| tunnel.is_on_earlier)
    }

    fn secured(&self, conn: ConnId) -> Option<HandshakeInfo> {
        self.inner.secured(self.under(conn)?)
    }

    fn peer_certificates(&self, conn: ConnId) -> Vec<Vec<u8>> {
        self.under(conn).map(|under| self.inner.peer_certificates(under)).unwrap_or_default()
    }
}
