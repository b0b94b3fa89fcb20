//! The interface of [`Quic`].

use std::sync::Arc;

use wavetank_driver::{
    ConnId, Dial, Driver, DriverConfig, Errno, Event, HandshakeInfo, PacketCounts, SendStatus,
};
use wavetank_plan::Close;
use wavetank_units::Nanos;

use super::Quic;

impl<D: Driver> Driver for Quic<D> {
    const SENDS_LATER: bool = D::SENDS_LATER;
    const HAS_RECORDS: bool = true;

    wavetank_driver::forward_driver! {
        inner:
        ends secure listen stop_accepting clock worked_until take_longest_send send_now waker
        stale
    }

    /// Makes a driver without QUIC; [`Quic::wrap`] adds it.
    fn new(setup: &DriverConfig) -> Result<Self, Errno> {
        Self::wrap(D::new(setup)?, None)
    }

    fn connect(&mut self, dial: &Dial) -> Result<ConnId, Errno> {
        match dial.tls {
            Some(tls) if self.client.is_some() => self.connect_quic(dial, tls),
            _ => self.inner.connect(dial),
        }
    }

    fn last_received_age(&mut self, conn: ConnId) -> Option<Nanos> {
        if self.peek(conn).is_some() { None } else { self.inner.last_received_age(conn) }
    }

    fn send(&mut self, conn: ConnId, bytes: &[u8]) -> Result<SendStatus, Errno> {
        if self.peek(conn).is_some() {
            return self.write(conn, bytes);
        }
        self.inner.send(conn, bytes)
    }

    fn send_shared(&mut self, conn: ConnId, bytes: &Arc<[u8]>) -> Result<SendStatus, Errno> {
        if self.peek(conn).is_some() {
            return self.write(conn, bytes);
        }
        self.inner.send_shared(conn, bytes)
    }

    /// With QUIC, these are bytes of streams that were accepted. The datagrams around them are not
    /// counted, and neither are bytes that are sent again.
    fn bytes_sent(&self) -> u64 {
        if self.client.is_some() { self.accepted_bytes } else { self.inner.bytes_sent() }
    }

    fn packets(&self) -> PacketCounts {
        self.packets
    }

    /// The peer of a QUIC connection is always informed: no kernel would do that.
    fn close(&mut self, conn: ConnId, how: Close) {
        let now = self.instants.now();
        let Some(entry) = self.get(conn) else { return self.inner.close(conn, how) };
        if !entry.quic.has_ended {
            entry.quic.close(now);
            // No later turn would send it.
            entry.quic.is_blocked = false;
            self.transmit(conn, now);
        }
        self.forget_conn(conn);
        if how == Close::Rst {
            // No wait may follow that would send it.
            self.inner.send_now();
        }
        self.inner.close(conn, Close::Fin);
    }

    fn shut_down_sending(&mut self, conn: ConnId) {
        if self.peek(conn).is_none() {
            self.inner.shut_down_sending(conn);
        }
    }

    fn wait_from(&mut self, now: Nanos, until: Nanos) -> Result<bool, Errno> {
        let is_idle = self.events.is_empty();
        let until = self.timers.next().map_or(until, |at| at.min(until));
        let ready = self.inner.wait_from(now, if is_idle { until } else { now })?;
        if self.timers.next().is_some() {
            let until = self.timers.fire_until(self.inner.clock().now(), ready);
            self.expire(until);
        }
        Ok(ready || !self.events.is_empty())
    }

    fn forget(&mut self, session: u32) {
        self.inner.forget(session);
        for (_, sessions) in self.client.iter().flat_map(|client| &client.configs) {
            sessions.forget(session);
        }
    }

    /// A datagram that was not sent is lost, which QUIC handles.
    fn take_unsent(&mut self) -> Option<(ConnId, u32)> {
        loop {
            let (conn, number) = self.inner.take_unsent()?;
            if self.peek(conn).is_none() {
                return Some((conn, number));
            }
        }
    }

    fn next(&mut self) -> Option<Event> {
        loop {
            while let Some(event) = self.events.pop() {
                if !self.is_stale(event) {
                    self.is_own = true;
                    return Some(event);
                }
            }
            let Some(event) = self.inner.next() else {
                if self.timers.next().is_some() {
                    self.timers.note_read(self.inner.clock().now());
                }
                return None;
            };
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
        if self.peek(conn).is_some() { self.events.is_ending(conn) } else { self.inner.is_ending(conn) }
    }

    fn tls_fault(&self) -> Option<String> {
        self.fault.clone().or_else(|| self.inner.tls_fault())
    }

    fn secured(&self, conn: ConnId) -> Option<HandshakeInfo> {
        let Some(entry) = self.peek(conn) else { return self.inner.secured(conn) };
        entry
            .quic
            .is_connected
            .then(|| HandshakeInfo::of_quic(entry.quic.protocol().as_deref(), entry.resumes))
    }

    fn peer_certificates(&self, conn: ConnId) -> Vec<Vec<u8>> {
        if self.peek(conn).is_some() { Vec::new() } else { self.inner.peer_certificates(conn) }
    }
}
