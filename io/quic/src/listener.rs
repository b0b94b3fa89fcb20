//! [`QuicListener`]: a driver that accepts connections of QUIC.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use quinn_proto::{
    ConnectionHandle, DatagramEvent, Endpoint, EndpointConfig, EndpointEvent, Incoming, ServerConfig,
};
use wavetank_driver::{
    Clock, ConnId, DatagramListener, Dial, Driver, DriverConfig, Errno, Event, EventQueue, HandshakeInfo,
    ListenerId, SendStatus, TlsServer, Waker,
};
use wavetank_plan::Close;
use wavetank_units::Nanos;

use crate::config;
use crate::connection::{QuicConnection, SEGMENTS_MAX, close_reason};
use crate::instants::Instants;
use crate::timers::Timers;

/// Room for any datagram.
const DATAGRAM_BYTES: usize = 64 * 1024;
/// Datagrams between two waits.
const DATAGRAMS_PER_TURN: u32 = 64;
/// The longest wait. Beyond any timer of a server.
const WAIT_MAX: Nanos = Nanos(60_000_000_000);

/// How long a closed connection is kept for what was sent before; see [`Driver::close`].
const DELIVERY_MAX: Nanos = Nanos(60_000_000_000);

/// A driver with one socket, which accepts any number of connections.
///
/// The caller gets [`Event::Accepted`] and [`Event::Secured`] when a handshake is complete.
pub struct QuicListener {
    instants: Instants,
    socket: Option<DatagramListener>,
    endpoint: Endpoint,
    /// Slots with the number of their uses.
    conns: Vec<(u16, Option<Box<QuicConnection>>)>,
    free: Vec<u32>,
    by_handle: BTreeMap<usize, ConnId>,
    events: EventQueue,
    timers: Timers,
    buffer: Box<[u8]>,
    datagram: Vec<u8>,
    is_readable: bool,
    /// Datagrams that may still be received before the next wait.
    left: u32,
    is_accepting: bool,
    bytes_sent: u64,
}

impl QuicListener {
    /// Makes a driver that serves with this certificate.
    ///
    /// # Errors
    /// `EPROTONOSUPPORT` if the ciphers of the server leave out the one that QUIC begins with.
    pub fn with_tls(clock: Clock, tls: &TlsServer) -> Result<Self, Errno> {
        let config = config::server(tls).ok_or(Errno(libc::EPROTONOSUPPORT))?;
        Ok(Self::with_config(clock, config::server_endpoint(tls), Some(config)))
    }

    fn with_config(clock: Clock, endpoint: EndpointConfig, config: Option<Arc<ServerConfig>>) -> Self {
        Self {
            instants: Instants::new(clock),
            socket: None,
            endpoint: Endpoint::new(Arc::new(endpoint), config, false, None),
            conns: Vec::new(),
            free: Vec::new(),
            by_handle: BTreeMap::new(),
            events: EventQueue::default(),
            timers: Timers::default(),
            buffer: vec![0; DATAGRAM_BYTES].into_boxed_slice(),
            datagram: Vec::new(),
            is_readable: false,
            left: 0,
            is_accepting: true,
            bytes_sent: 0,
        }
    }

    fn get(&mut self, conn: ConnId) -> Option<&mut QuicConnection> {
        let (generation, entry) = self.conns.get_mut(conn.slot as usize)?;
        if *generation == conn.generation { entry.as_deref_mut() } else { None }
    }

    fn peek(&self, conn: ConnId) -> Option<&QuicConnection> {
        let (generation, entry) = self.conns.get(conn.slot as usize)?;
        if *generation == conn.generation { entry.as_deref() } else { None }
    }

    fn insert(&mut self, handle: ConnectionHandle, connection: quinn_proto::Connection) -> ConnId {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.conns.push((0, None));
            self.conns.len() as u32 - 1
        });
        let (generation, entry) = &mut self.conns[slot as usize];
        *generation = generation.wrapping_add(1);
        let id = ConnId { slot, generation: *generation };
        *entry = Some(Box::new(QuicConnection::new(id, handle, connection)));
        self.by_handle.insert(handle.0, id);
        id
    }

    fn remove(&mut self, conn: ConnId) {
        if self.peek(conn).is_none() {
            return;
        }
        let Some(entry) = self.conns[conn.slot as usize].1.take() else { return };
        self.free.push(conn.slot);
        self.by_handle.remove(&entry.handle.0);
        self.endpoint.handle_event(entry.handle, EndpointEvent::drained());
    }

    /// Receives one datagram. Returns whether there was one.
    fn receive(&mut self) -> Result<bool, Errno> {
        let Some(socket) = &self.socket else { return Ok(false) };
        let Some((len, peer)) = socket.receive(&mut self.buffer)? else { return Ok(false) };
        let now = self.instants.now();
        let bytes = BytesMut::from(&self.buffer[..len]);
        self.datagram.clear();
        match self.endpoint.handle(now, peer, None, None, bytes, &mut self.datagram) {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                let Some(&conn) = self.by_handle.get(&handle.0) else { return Ok(true) };
                if let Some(entry) = self.get(conn) {
                    entry.connection.handle_event(event);
                }
                self.advance(conn, now);
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.accept(incoming, now),
            Some(DatagramEvent::Response(transmit)) => {
                self.send_datagram(transmit.size, transmit.destination);
            }
            None => {}
        }
        Ok(true)
    }

    fn accept(&mut self, incoming: Incoming, now: Instant) {
        self.datagram.clear();
        if !self.is_accepting {
            let transmit = self.endpoint.refuse(incoming, &mut self.datagram);
            return self.send_datagram(transmit.size, transmit.destination);
        }
        match self.endpoint.accept(incoming, now, &mut self.datagram, None) {
            Ok((handle, connection)) => {
                let conn = self.insert(handle, connection);
                self.advance(conn, now);
            }
            Err(error) => {
                if let Some(transmit) = error.response {
                    self.send_datagram(transmit.size, transmit.destination);
                }
            }
        }
    }

    /// Closes a connection that has left, when the peer has received everything or the time for it
    /// is over.
    fn leave(&mut self, conn: ConnId, now: Instant) {
        let at = self.instants.nanos(now);
        let Some(entry) = self.get(conn) else { return };
        let Some(leaves_at) = entry.leaves_at else { return };
        if !entry.connection.is_closed() && (entry.is_delivered() || leaves_at <= at) {
            entry.close(now);
            self.transmit(conn, now);
        }
    }

    fn send_datagram(&self, len: usize, to: SocketAddr) {
        if let Some(socket) = &self.socket {
            socket.send(&self.datagram[..len], to);
        }
    }

    /// Queues what has happened on a connection, and sends what it has to send.
    fn advance(&mut self, conn: ConnId, now: Instant) {
        let Self { conns, endpoint, events, .. } = self;
        let Some(entry) = conns.get_mut(conn.slot as usize).and_then(|(_, entry)| entry.as_deref_mut())
        else {
            return;
        };
        let start = events.bytes_mut().len();
        let progress = entry.advance(endpoint, events.bytes_mut());
        if progress.connected {
            events.push(Event::Accepted(ListenerId(0), conn));
            events.push(Event::Secured(conn));
        }
        events.push_from(conn, start);
        if entry.owes_flush && entry.is_flushed() {
            entry.owes_flush = false;
            events.push(Event::Flushed(conn));
        }
        if progress.drained && entry.leaves_at.is_some() {
            return self.remove(conn);
        }
        if let Some(error) = progress.lost {
            if !entry.is_connected {
                self.transmit(conn, now);
                return self.remove(conn);
            }
            if !std::mem::replace(&mut entry.has_ended, true) {
                events.push(Event::Ended(conn, close_reason(&error, true).0));
            }
        }
        self.leave(conn, now);
        self.transmit(conn, now);
    }

    fn transmit(&mut self, conn: ConnId, now: Instant) {
        let Self { conns, socket, datagram, timers, instants, .. } = self;
        let Some(entry) = conns.get_mut(conn.slot as usize).and_then(|(_, entry)| entry.as_deref_mut())
        else {
            return;
        };
        entry.transmit(now, SEGMENTS_MAX, datagram, |bytes, to| {
            if let Some(socket) = socket {
                socket.send_segments(bytes, to);
            }
            true
        });
        if let Some(at) = entry.connection.poll_timeout().map(|at| instants.nanos(at))
            && at < entry.armed
        {
            entry.armed = at;
            timers.set(at, conn);
        }
    }

    /// Lets time pass for connections.
    fn expire(&mut self, now: Nanos) {
        while let Some((at, conn)) = self.timers.take_due(now) {
            let instants = self.instants;
            let Some(entry) = self.get(conn) else { continue };
            if entry.leaves_at == Some(at) {
                self.leave(conn, instants.instant(now));
                continue;
            }
            if entry.armed != at {
                continue;
            }
            entry.armed = Nanos::MAX;
            let instant = instants.instant(now);
            if entry.connection.poll_timeout().is_some_and(|due| due <= instant) {
                entry.connection.handle_timeout(instant);
            }
            self.advance(conn, instant);
        }
    }

    fn is_stale(&self, event: Event) -> bool {
        let (Event::Received(conn, _)
        | Event::Flushed(conn)
        | Event::Ended(conn, _)
        | Event::Secured(conn)
        | Event::Accepted(_, conn)) = event
        else {
            return false;
        };
        self.peek(conn).is_none_or(|entry| entry.leaves_at.is_some())
    }
}

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

    fn send(&mut self, conn: ConnId, bytes: &[u8]) -> Result<SendStatus, Errno> {
        let now = self.instants.now();
        let Some(entry) = self.get(conn).filter(|entry| !entry.has_ended) else {
            return Err(Errno(libc::EPIPE));
        };
        entry.write(bytes, now);
        let is_flushed = entry.is_flushed();
        entry.owes_flush = !is_flushed;
        self.bytes_sent += wavetank_wire::h3::records::stream_bytes(bytes);
        self.transmit(conn, now);
        Ok(if is_flushed { SendStatus::All } else { SendStatus::Pending })
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
        Some(HandshakeInfo::of_quic(entry.protocol().as_deref(), false))
    }
}
