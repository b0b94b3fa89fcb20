//! [`Quic`]: QUIC as a filter between a driver and its caller.

mod driver;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::BytesMut;
use quinn_proto::{ClientConfig, DatagramEvent, Endpoint, EndpointConfig, EndpointEvent};
use wavetank_driver::{
    CloseReason, ConnId, Datagrams, Dial, DialTls, Driver, Errno, Event, PacketCounts, QuicSessions,
    SendStatus, TlsClient, can_segment,
};
use wavetank_plan::Close;
use wavetank_units::Nanos;
use wavetank_wire::h3::records;

use crate::config;
use crate::connection::{QuicConnection, SEGMENTS_MAX, close_reason};
use crate::instants::Instants;
use crate::keep_alive::KeepAlive;
use crate::timers::Timers;
use wavetank_driver::EventQueue;

/// A driver of which the dials with TLS use QUIC. All other connections pass through.
///
/// The caller gets [`Event::Connected`] when the handshake is complete, or [`Event::Ended`] if it
/// failed. Each connection has a UDP socket of its own, because servers distribute connections by
/// addresses.
pub struct Quic<D> {
    inner: D,
    client: Option<Client>,
    /// By slot of the inner driver.
    conns: Vec<Option<Box<Dialed>>>,
    events: EventQueue,
    /// The last event was one of QUIC.
    is_own: bool,
    timers: Timers,
    instants: Instants,
    datagram: Vec<u8>,
    fault: Option<String>,
    /// See [`Driver::bytes_sent`].
    accepted_bytes: u64,
    /// See [`Driver::packets`].
    packets: PacketCounts,
    /// The most datagrams that are sent at a time.
    segments_max: usize,
}

/// The client side of a thread.
struct Client {
    tls: Arc<TlsClient>,
    configs: Vec<(ClientConfig, QuicSessions)>,
    endpoint: Endpoint,
}

/// A connection, and its peer.
struct Dialed {
    quic: QuicConnection,
    peer: SocketAddr,
    tls: DialTls,
    /// The sessions that it may resume.
    sessions: QuicSessions,
    /// The part of [`Quic::packets`] that is of this connection.
    packets: PacketCounts,
    /// It asked for a session to be resumed, and the server has shown no certificate instead.
    resumes: bool,
    keep_alive: KeepAlive,
}

impl<D: Driver> Quic<D> {
    /// Adds QUIC to `inner` for dials with TLS. Without a client everything passes through. Call it
    /// on the thread that uses it, before a clock runs.
    ///
    /// # Errors
    /// `EPROTONOSUPPORT` if the ciphers of the client leave out the one that QUIC begins with.
    pub fn wrap(inner: D, client: Option<Arc<TlsClient>>) -> Result<Self, Errno> {
        let instants = Instants::new(inner.clock());
        let client = client.map(|tls| {
            let configs = config::clients(&tls).ok_or(Errno(libc::EPROTONOSUPPORT))?;
            let endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), None, false, None);
            Ok::<_, Errno>(Client { tls, configs, endpoint })
        });
        Ok(Self {
            inner,
            client: client.transpose()?,
            conns: Vec::new(),
            events: EventQueue::default(),
            is_own: false,
            timers: Timers::default(),
            instants,
            datagram: Vec::new(),
            fault: None,
            accepted_bytes: 0,
            packets: PacketCounts::default(),
            segments_max: if can_segment() { SEGMENTS_MAX } else { 1 },
        })
    }

    fn get(&mut self, conn: ConnId) -> Option<&mut Dialed> {
        let entry = self.conns.get_mut(conn.slot as usize)?.as_deref_mut()?;
        (entry.quic.id == conn).then_some(entry)
    }

    fn peek(&self, conn: ConnId) -> Option<&Dialed> {
        let entry = self.conns.get(conn.slot as usize)?.as_deref()?;
        (entry.quic.id == conn).then_some(entry)
    }

    fn connect_quic(&mut self, dial: &Dial, tls: DialTls) -> Result<ConnId, Errno> {
        let now = self.instants.now();
        let client = self.client.as_mut().ok_or(Errno(libc::EPROTONOSUPPORT))?;
        let (name, profile) = client.tls.quic_server(tls).ok_or(Errno(libc::EPROTONOSUPPORT))?;
        let datagrams = if self.segments_max > 1 { Datagrams::Segments } else { Datagrams::Whole };
        let id = self.inner.connect(&Dial { tls: None, datagrams: Some(datagrams), ..*dial })?;
        let (config, sessions) = client.configs[profile].clone();
        sessions.select(tls);
        let resumes = sessions.has_ticket();
        let Ok((handle, connection)) = client.endpoint.connect(now, config, dial.to, &name) else {
            self.inner.close(id, Close::Rst);
            return Err(Errno(libc::EINVAL));
        };
        let slot = id.slot as usize;
        if self.conns.len() <= slot {
            self.conns.resize_with(slot + 1, || None);
        }
        let quic = QuicConnection::new(id, handle, connection);
        self.conns[slot] = Some(Box::new(Dialed {
            quic,
            peer: dial.to,
            tls,
            sessions,
            packets: PacketCounts::default(),
            resumes,
            keep_alive: KeepAlive::new(now),
        }));
        Ok(id)
    }

    /// Handles an event of the inner driver. Returns those of other connections.
    fn filter(&mut self, event: Event) -> Option<Event> {
        let (Event::Received(conn, _)
        | Event::Connected(conn)
        | Event::ConnectFailed(conn, _)
        | Event::Ended(conn, _)
        | Event::Flushed(conn)) = event
        else {
            return Some(event);
        };
        if self.peek(conn).is_none() {
            return Some(event);
        }
        match event {
            Event::Received(_, len) => self.receive(conn, len),
            Event::ConnectFailed(..) => {
                self.forget_conn(conn);
                self.is_own = true;
                return Some(event);
            }
            Event::Ended(_, how) => self.socket_ended(conn, how),
            Event::Flushed(_) => {
                if let Some(entry) = self.get(conn) {
                    entry.quic.is_blocked = false;
                }
            }
            _ => {}
        }
        self.advance(conn);
        None
    }

    /// Handles a datagram.
    fn receive(&mut self, conn: ConnId, len: usize) {
        let now = self.instants.now();
        let Some(peer) = self.peek(conn).map(|entry| entry.peer) else { return };
        let Some(client) = &mut self.client else { return };
        let bytes = BytesMut::from(self.inner.received(len));
        self.datagram.clear();
        let event = client.endpoint.handle(now, peer, None, None, bytes, &mut self.datagram);
        match event {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                // A datagram with the id of another connection does not belong to this socket.
                let entry = self.get(conn).filter(|entry| entry.quic.handle == handle);
                if let Some(entry) = entry {
                    entry.sessions.select(entry.tls);
                    let shown = entry.sessions.certificates_shown();
                    entry.quic.connection.handle_event(event);
                    entry.keep_alive.note_arrival(now);
                    entry.resumes &= shown == entry.sessions.certificates_shown();
                }
            }
            Some(DatagramEvent::Response(transmit)) => {
                let _ = self.inner.send(conn, &self.datagram[..transmit.size]);
            }
            Some(DatagramEvent::NewConnection(_)) | None => {}
        }
    }

    /// Handles an error of the socket: an ICMP message, or a packet filter of this host.
    fn socket_ended(&mut self, conn: ConnId, how: CloseReason) {
        if matches!(how, CloseReason::Broken(Errno(libc::EIO | libc::EINVAL))) {
            // A network card that computes no checksums cannot cut, before Linux 6.11. A packet
            // must not be longer than what the path takes.
            self.segments_max = 1;
        }
        let Some(entry) = self.get(conn) else { return };
        if entry.quic.has_ended {
            return;
        }
        entry.quic.has_ended = true;
        match how {
            CloseReason::Broken(errno) if !entry.quic.is_connected => self.fail(conn, errno),
            how => self.events.push(Event::Ended(conn, how)),
        }
    }

    /// Ends a connection that was never established.
    fn fail(&mut self, conn: ConnId, errno: Errno) {
        self.forget_conn(conn);
        self.inner.close(conn, Close::Rst);
        self.events.push(Event::ConnectFailed(conn, errno));
    }

    fn forget_conn(&mut self, conn: ConnId) {
        let Some(entry) = self.conns.get_mut(conn.slot as usize).and_then(Option::take) else { return };
        if let Some(client) = &mut self.client {
            client.endpoint.handle_event(entry.quic.handle, EndpointEvent::drained());
        }
    }

    /// Queues what has happened on a connection, and sends what it has to send.
    fn advance(&mut self, conn: ConnId) {
        let now = self.instants.now();
        let Self { conns, client, events, .. } = self;
        let Some(entry) = conns.get_mut(conn.slot as usize).and_then(Option::as_deref_mut) else { return };
        let Some(client) = client else { return };
        let quic = &mut entry.quic;
        if quic.id != conn {
            return;
        }
        let start = events.bytes_mut().len();
        let progress = quic.advance(&mut client.endpoint, events.bytes_mut());
        if progress.connected {
            entry.keep_alive.begin(&quic.connection);
            events.push(Event::Connected(conn));
        }
        events.push_from(conn, start);
        if quic.owes_flush && quic.is_flushed() {
            quic.owes_flush = false;
            events.push(Event::Flushed(conn));
        }
        if let Some(error) = progress.lost.filter(|_| !quic.has_ended) {
            quic.has_ended = true;
            let (how, fault) = close_reason(&error, quic.is_connected);
            self.fault = fault.or(self.fault.take());
            match how {
                CloseReason::Broken(errno) if !entry.quic.is_connected => return self.fail(conn, errno),
                how => events.push(Event::Ended(conn, how)),
            }
        }
        self.transmit(conn, now);
    }

    fn transmit(&mut self, conn: ConnId, now: std::time::Instant) {
        let Self { conns, inner, datagram, timers, instants, segments_max, packets, .. } = self;
        let Some(entry) = conns.get_mut(conn.slot as usize).and_then(Option::as_deref_mut) else { return };
        let quic = &mut entry.quic;
        let mut is_blocked = quic.is_blocked;
        if !is_blocked {
            quic.transmit(now, *segments_max, datagram, |bytes, _| {
                // A failure is reported by the inner driver, or the datagram is sent again.
                is_blocked = matches!(inner.send(conn, bytes), Ok(SendStatus::Pending) | Err(_));
                !is_blocked
            });
        }
        quic.is_blocked = is_blocked;
        let counted = quic.packets();
        packets.sent += counted.sent - entry.packets.sent;
        packets.lost += counted.lost - entry.packets.lost;
        entry.packets = counted;
        let ping_at = entry.keep_alive.due_at().filter(|_| !quic.has_ended);
        let next = quic.connection.poll_timeout().into_iter().chain(ping_at).min();
        if let Some(at) = next.map(|at| instants.nanos(at))
            && at < quic.armed
        {
            quic.armed = at;
            timers.set(at, conn);
        }
    }

    /// Lets time pass for connections.
    fn expire(&mut self, now: Nanos) {
        while let Some((at, conn)) = self.timers.take_due(now) {
            let instants = self.instants;
            let Some(entry) = self.get(conn) else { continue };
            if entry.quic.armed != at {
                continue;
            }
            entry.quic.armed = Nanos::MAX;
            let due = entry.quic.connection.poll_timeout().map(|at| instants.nanos(at));
            if due.is_some_and(|due| due <= now) {
                entry.quic.connection.handle_timeout(instants.instant(now));
            }
            if !entry.quic.has_ended && entry.keep_alive.take_due(instants.instant(now)) {
                entry.quic.connection.ping();
            }
            self.advance(conn);
        }
    }

    /// Whether the connection of this event has been closed since.
    fn is_stale(&self, event: Event) -> bool {
        let (Event::Received(conn, _)
        | Event::Flushed(conn)
        | Event::Ended(conn, _)
        | Event::Connected(conn)) = event
        else {
            return false;
        };
        self.peek(conn).is_none()
    }

    fn write(&mut self, conn: ConnId, bytes: &[u8]) -> Result<SendStatus, Errno> {
        let now = self.instants.now();
        let Some(entry) = self.get(conn) else { return Err(Errno(libc::ENOTCONN)) };
        if entry.quic.has_ended {
            return Err(Errno(libc::EPIPE));
        }
        entry.quic.write(bytes, now);
        let is_flushed = entry.quic.is_flushed();
        entry.quic.owes_flush = !is_flushed;
        self.accepted_bytes += records::stream_bytes(bytes);
        self.transmit(conn, now);
        Ok(if is_flushed { SendStatus::All } else { SendStatus::Pending })
    }
}
