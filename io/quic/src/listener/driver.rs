//! The interface of [`QuicListener`].

use std::net::SocketAddr;
use std::sync::Arc;

use quinn_proto::EndpointConfig;
use wavetank_driver::{
    Clock, ConnId, DatagramListener, Dial, Driver, DriverConfig, Errno, Event, HandshakeInfo, ListenerId,
    SendStatus, Waker,
};
use wavetank_plan::Close;
use wavetank_units::Nanos;

use super::QuicListener;

/// Datagrams between two waits.
const DATAGRAMS_PER_TURN: u32 = 64;
/// The longest wait. Beyond any timer of a server.
const WAIT_MAX: Nanos = Nanos(60_000_000_000);

/// How long a closed connection is kept for what was sent before; see [`Driver::close`].
const DELIVERY_MAX: Nanos = Nanos(60_000_000_000);

impl Driver for QuicListener {
    const HAS_RECORDS: bool = true;

    /// Makes a driver without a certificate, which accepts nothing.
    fn new(setup: &DriverConfig) -> Result<Self, Errno> {
        Ok(Self::with_config(setup.clock, EndpointConfig::default(), None))
    }

    fn connect(&mut self, _: &Dial) -> Result<ConnId, Errno> {
        Err(Errno(libc::EOPNOTSUPP))
    }

    fn listen(&mut self, at: SocketAddr) -> Result<(ListenerId, SocketAddr), Errno> {
        if self.socket.is_some() {
            return Err(Errno(libc::EOPNOTSUPP));
        }
        let socket = DatagramListener::bind(at)?;
        let address = socket.address()?;
        socket.cut_into_segments();
        self.socket = Some(socket);
        Ok((ListenerId(0), address))
    }

    fn stop_accepting(&mut self) {
        self.is_accepting = false;
    }

    /// It is never pending: what the peer does not read on one stream keeps back no other. The
    /// bytes kept are bounded if no more follows on those that [are
    /// blocked](Driver::is_stream_blocked).
    fn send(&mut self, conn: ConnId, bytes: &[u8]) -> Result<SendStatus, Errno> {
        let now = self.instants.now();
        let Some(entry) = self.get(conn).filter(|entry| !entry.has_ended) else {
            return Err(Errno(libc::EPIPE));
        };
        entry.write(bytes, now);
        self.bytes_sent += wavetank_wire::h3::records::stream_bytes(bytes);
        self.transmit(conn, now);
        Ok(SendStatus::All)
    }

    fn is_stream_blocked(&self, conn: ConnId, stream: u64) -> bool {
        self.peek(conn).is_some_and(|entry| entry.is_stream_blocked(stream))
    }

    fn send_shared(&mut self, conn: ConnId, bytes: &Arc<[u8]>) -> Result<SendStatus, Errno> {
        self.send(conn, bytes)
    }

    fn bytes_sent(&self) -> u64 {
        self.bytes_sent
    }

    fn close(&mut self, conn: ConnId, how: Close) {
        let now = self.instants.now();
        let leaves_at = self.instants.nanos(now).after(DELIVERY_MAX);
        let Some(entry) = self.get(conn).filter(|entry| entry.leaves_at.is_none()) else { return };
        if how == Close::Fin && !entry.connection.is_closed() {
            (entry.leaves_at, entry.has_ended) = (Some(leaves_at), true);
            self.timers.set(leaves_at, conn);
            return self.leave(conn, now);
        }
        if !entry.has_ended {
            entry.close(now);
            self.transmit(conn, now);
        }
        self.remove(conn);
    }

    /// QUIC ends a connection in both directions. What was sent before is not waited for.
    fn shut_down_sending(&mut self, conn: ConnId) {
        let now = self.instants.now();
        let Some(entry) = self.get(conn).filter(|entry| !entry.has_ended) else { return };
        entry.has_ended = true;
        entry.close(now);
        self.transmit(conn, now);
        self.events.push(Event::Ended(conn, wavetank_driver::CloseReason::Eof));
    }

    fn clock(&self) -> Clock {
        self.instants.clock()
    }

    fn wait_from(&mut self, now: Nanos, until: Nanos) -> Result<bool, Errno> {
        let until = self.timers.next().map_or(until, |at| at.min(until));
        let until = if self.events.is_empty() && !self.is_readable { until } else { now };
        let timeout = Nanos(until.0.saturating_sub(now.0)).clamp(Nanos::ZERO, WAIT_MAX);
        if let Some(socket) = &self.socket {
            let ready = socket.wait(timeout)?;
            self.is_readable |= ready.readable;
            if ready.woken {
                self.events.push(Event::Woken);
            }
        }
        self.left = DATAGRAMS_PER_TURN;
        let until = self.timers.fire_until(self.instants.clock().now(), self.is_readable);
        self.expire(until);
        Ok(self.is_readable || !self.events.is_empty())
    }

    fn next(&mut self) -> Option<Event> {
        loop {
            while let Some(event) = self.events.pop() {
                if !self.is_stale(event) {
                    return Some(event);
                }
            }
            if !self.is_readable || self.left == 0 {
                return None;
            }
            self.left -= 1;
            self.is_readable = self.receive().unwrap_or(false); // An error is seen again.
            if !self.is_readable {
                self.timers.note_read(self.instants.clock().now());
            }
        }
    }

    fn received(&self, _: usize) -> &[u8] {
        self.events.current()
    }

    fn is_ending(&self, conn: ConnId) -> bool {
        self.events.is_ending(conn)
    }

    fn waker(&self) -> Result<Waker, Errno> {
        self.socket.as_ref().map(DatagramListener::waker).ok_or(Errno(libc::EBADF))
    }

    fn stale(&self) -> u64 {
        0
    }

    fn secured(&self, conn: ConnId) -> Option<HandshakeInfo> {
        let entry = self.peek(conn).filter(|entry| entry.is_connected)?;
        Some(HandshakeInfo::of_quic(entry.protocol().as_deref(), !entry.has_signed))
    }
}
