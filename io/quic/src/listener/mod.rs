//! [`QuicListener`]: a driver that accepts connections of QUIC.

mod driver;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use quinn_proto::{
    ConnectionHandle, DatagramEvent, Endpoint, EndpointConfig, EndpointEvent, Incoming, ServerConfig,
    Transmit,
};
use wavetank_driver::{
    Clock, ConnId, DatagramListener, Errno, Event, EventQueue, ListenerId, QuicSignatures, ReceivedDatagram,
    TlsServer,
};
use wavetank_units::Nanos;

use crate::config;
use crate::connection::{QuicConnection, SEGMENTS_MAX, close_reason, is_handshake_fault};
use crate::instants::Instants;
use crate::timers::Timers;

/// Room for any datagram.
const DATAGRAM_BYTES: usize = 64 * 1024;

/// A driver with one socket, which accepts any number of connections.
///
/// The caller gets [`Event::Accepted`] and [`Event::Secured`] when a handshake is complete, or
/// [`Event::Accepted`] and [`Event::Ended`] when it has failed.
pub struct QuicListener {
    instants: Instants,
    socket: Option<DatagramListener>,
    endpoint: Endpoint,
    signatures: QuicSignatures,
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
        let (config, signatures) = config::server(tls).ok_or(Errno(libc::EPROTONOSUPPORT))?;
        let mut listener = Self::with_config(clock, config::server_endpoint(tls), Some(config));
        listener.signatures = signatures;
        Ok(listener)
    }

    pub(crate) fn with_config(
        clock: Clock,
        endpoint: EndpointConfig,
        config: Option<Arc<ServerConfig>>,
    ) -> Self {
        Self {
            instants: Instants::new(clock),
            socket: None,
            endpoint: Endpoint::new(Arc::new(endpoint), config, false, None),
            signatures: QuicSignatures::default(),
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
        let Some(received) = socket.receive(&mut self.buffer)? else { return Ok(false) };
        let ReceivedDatagram { len, peer, local } = received;
        let now = self.instants.now();
        let bytes = BytesMut::from(&self.buffer[..len]);
        self.datagram.clear();
        match self.endpoint.handle(now, peer, local, None, bytes, &mut self.datagram) {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                let Some(&conn) = self.by_handle.get(&handle.0) else { return Ok(true) };
                let before = self.signatures.count();
                if let Some(entry) = self.get(conn) {
                    entry.connection.handle_event(event);
                }
                let has_signed = before != self.signatures.count();
                if let Some(entry) = self.get(conn).filter(|_| has_signed) {
                    entry.has_signed = true;
                }
                self.advance(conn, now);
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.accept(incoming, now),
            Some(DatagramEvent::Response(transmit)) => {
                self.send_datagram(&transmit);
            }
            None => {}
        }
        Ok(true)
    }

    fn accept(&mut self, incoming: Incoming, now: Instant) {
        self.datagram.clear();
        if !self.is_accepting {
            let transmit = self.endpoint.refuse(incoming, &mut self.datagram);
            return self.send_datagram(&transmit);
        }
        let before = self.signatures.count();
        match self.endpoint.accept(incoming, now, &mut self.datagram, None) {
            Ok((handle, connection)) => {
                let has_signed = before != self.signatures.count();
                let conn = self.insert(handle, connection);
                if let Some(entry) = self.get(conn) {
                    entry.has_signed = has_signed;
                }
                self.advance(conn, now);
            }
            Err(error) => {
                if let Some(transmit) = error.response {
                    self.send_datagram(&transmit);
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

    fn send_datagram(&self, transmit: &Transmit) {
        if let Some(socket) = &self.socket {
            socket.send(&self.datagram[..transmit.size], transmit.destination, transmit.src_ip);
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
        if std::mem::take(&mut entry.has_drained) {
            events.push(Event::Flushed(conn));
        }
        if progress.drained && entry.leaves_at.is_some() {
            return self.remove(conn);
        }
        if let Some(error) = progress.lost {
            if !entry.is_connected {
                if !is_handshake_fault(&error) {
                    self.transmit(conn, now);
                    return self.remove(conn);
                }
                // The owner counts it, and closes it.
                events.push(Event::Accepted(ListenerId(0), conn));
            }
            if !std::mem::replace(&mut entry.has_ended, true) {
                events.push(Event::Ended(conn, close_reason(&error, entry.is_connected).0));
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
        entry.transmit(now, SEGMENTS_MAX, datagram, |bytes, transmit| {
            if let Some(socket) = socket {
                socket.send_segments(bytes, transmit.destination, transmit.src_ip);
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
