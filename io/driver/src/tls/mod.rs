//! [`Tls`]: TLS as a filter between a driver and its caller.
//!
//! Dials that ask for TLS get it, and so do all accepted connections if there is a server side. All
//! other connections pass through. The caller first gets the TCP connection ([`Event::Connected`],
//! [`Event::Accepted`]), then [`Event::Secured`], then plaintext. Bytes sent before
//! [`Event::Secured`] are kept and sent after it.
//!
//! An idle connection holds no buffers. Ciphertext is encrypted and decrypted in buffers of the
//! thread; only half a record stays with its connection.
//!
//! A handshake costs a hundred times as much as a request. Only a few handshake steps are done
//! between two waits. The others queue, and events of established connections go ahead of them.
//!
//! How connections end: a `close_notify` of the peer is [`CloseReason::Eof`]. An end of the
//! connection without it is [`CloseReason::Truncated`], as any party on the path could have forged
//! it. During the handshake, such an end is [`CloseReason::Tls`].

mod client;
mod counting_key;
mod crypto_config;
mod error_text;
mod handshake_info;
mod handshakes;
mod inbound;
mod machine;
mod outbound;
mod pem;
mod problem;
mod rng_warmup;
mod server;
mod sessions;
mod stream;
mod verify;

use std::collections::VecDeque;
use std::sync::Arc;

use wavetank_plan::Close;
use wavetank_units::Nanos;

pub use client::TlsClient;
pub use counting_key::QuicSignatures;
pub use handshake_info::{Alpn, HandshakeInfo};
pub use problem::TlsProblem;
pub use server::TlsServer;
pub use sessions::QuicSessions;

use crate::Errno;
use crate::driver::{ConnId, Dial, DialTls, Driver, DriverConfig, Event, SendStatus};
use client::ThreadTlsClient;
use handshakes::HandshakeQueue;
use machine::Out;
use stream::{Stream, Streams, TlsStage};

/// See the module's description.
pub struct Tls<D> {
    inner: D,
    client: Option<ThreadTlsClient>,
    server: Option<Arc<TlsServer>>,
    streams: Streams,
    handshakes: HandshakeQueue,
    /// Connections with a long send that continues after the others had their turn.
    sending: VecDeque<ConnId>,
    /// Number of them to continue before the next wait.
    sends_left: usize,
    /// Events that are ready to be returned; at most a few of one connection.
    reported: VecDeque<Event>,
    /// The ciphertext being processed.
    incoming: Vec<u8>,
    /// Plaintext of the last [`Event::Received`].
    plain: Vec<u8>,
    out: Out,
    /// The last [`Event::Received`] was one of a TLS connection.
    plain_reported: bool,
    fault: Option<String>,
    /// See [`Driver::bytes_sent`].
    accepted_bytes: u64,
}

impl<D: Driver> Tls<D> {
    /// Adds TLS to `inner`: with `client` for dials, with `server` for all listeners. Without
    /// either, everything passes through. Call it on the thread that uses it, before a clock runs:
    /// the thread's random generator gathers its entropy here, which takes tens of milliseconds.
    pub fn wrap(inner: D, client: Option<Arc<TlsClient>>, server: Option<Arc<TlsServer>>) -> Self {
        if let Some(server) = &server {
            server.prepare_thread();
        }
        Self {
            inner,
            client: client.map(ThreadTlsClient::new),
            server,
            streams: Streams::default(),
            handshakes: HandshakeQueue::default(),
            sending: VecDeque::new(),
            sends_left: 0,
            reported: VecDeque::new(),
            incoming: Vec::new(),
            plain: Vec::new(),
            out: Out::default(),
            plain_reported: false,
            fault: None,
            accepted_bytes: 0,
        }
    }

    /// Returns whether this layer has nothing left to do.
    fn is_idle(&self) -> bool {
        self.reported.is_empty() && self.handshakes.is_empty() && self.sending.is_empty()
    }

    /// Returns whether the connection of this event has been closed since. Such events are dropped.
    fn is_stale(&self, event: Event) -> bool {
        let (Event::Received(conn, _) | Event::Flushed(conn) | Event::Ended(conn, _) | Event::Secured(conn)) =
            event
        else {
            return false;
        };
        self.streams.peek(conn).is_none()
    }
}

impl<D: Driver> Driver for Tls<D> {
    const SENDS_LATER: bool = D::SENDS_LATER;

    crate::forward_driver! {
        inner:
        ends last_received_age listen stop_accepting clock now worked_until take_longest_send
        send_now waker stale
    }

    /// Makes a driver without TLS; [`Tls::wrap`] adds it.
    fn new(setup: &DriverConfig) -> Result<Self, Errno> {
        Ok(Self::wrap(D::new(setup)?, None, None))
    }

    fn connect(&mut self, dial: &Dial) -> Result<ConnId, Errno> {
        let Some(tls) = dial.tls else { return self.inner.connect(dial) };
        // Bytes intended for TLS must never be sent unencrypted.
        if !self.client.as_ref().is_some_and(|client| client.has_server(tls)) {
            return Err(Errno(libc::EPROTONOSUPPORT));
        }
        let conn = self.inner.connect(dial)?;
        self.streams.insert(Stream::new(conn, Some(tls), None));
        Ok(conn)
    }

    fn secure(&mut self, conn: ConnId, tls: DialTls) -> Result<(), Errno> {
        if !self.client.as_ref().is_some_and(|client| client.has_server(tls)) {
            return Err(Errno(libc::EPROTONOSUPPORT));
        }
        let mut stream = Stream::new(conn, Some(tls), None);
        self.handshakes.push(&mut stream);
        self.streams.insert(stream);
        Ok(())
    }

    fn send(&mut self, conn: ConnId, bytes: &[u8]) -> Result<SendStatus, Errno> {
        if self.streams.peek(conn).is_some() {
            return self.send_tls(conn, bytes, None);
        }
        let sent = self.inner.send(conn, bytes);
        self.accepted_bytes += if sent.is_ok() { bytes.len() as u64 } else { 0 };
        sent
    }

    fn send_shared(&mut self, conn: ConnId, bytes: &Arc<[u8]>) -> Result<SendStatus, Errno> {
        if self.streams.peek(conn).is_some() {
            return self.send_tls(conn, bytes, Some(bytes));
        }
        let sent = self.inner.send_shared(conn, bytes);
        self.accepted_bytes += if sent.is_ok() { bytes.len() as u64 } else { 0 };
        sent
    }

    /// With TLS on either side, these are plaintext bytes handed to the inner driver, encrypted or
    /// passed through. The inner driver may still keep some of them. Without TLS, these are the
    /// bytes that the kernel has taken.
    fn bytes_sent(&self) -> u64 {
        if self.client.is_none() && self.server.is_none() {
            return self.inner.bytes_sent();
        }
        self.accepted_bytes
    }

    fn close(&mut self, conn: ConnId, how: Close) {
        if how == Close::Fin {
            self.send_close_notify(conn);
        }
        self.streams.remove(conn);
        self.inner.close(conn, how);
    }

    fn shut_down_sending(&mut self, conn: ConnId) {
        let Some(stream) = self.streams.get(conn) else { return self.inner.shut_down_sending(conn) };
        if stream.stage == TlsStage::Shaking || !stream.is_flushed() {
            stream.extra().finish = true;
            return;
        }
        self.send_close_notify(conn);
        self.inner.shut_down_sending(conn);
    }

    fn wait_from(&mut self, now: Nanos, until: Nanos) -> Result<bool, Errno> {
        self.handshakes.begin_turn();
        self.sends_left = self.sending.len();
        let idle = self.is_idle();
        let ready = self.inner.wait_from(now, if idle { until } else { now })?;
        Ok(ready || !idle)
    }

    fn forget(&mut self, session: u32) {
        if let Some(client) = &self.client {
            client.forget(session);
        }
    }

    /// For a TLS connection, this includes the library's own sends, such as the end of a handshake.
    fn take_unsent(&mut self) -> Option<(ConnId, u32)> {
        self.inner.take_unsent()
    }

    fn next(&mut self) -> Option<Event> {
        loop {
            while let Some(event) = self.reported.pop_front() {
                if !self.is_stale(event) {
                    self.plain_reported = matches!(event, Event::Received(..));
                    return Some(event);
                }
            }
            if self.handshakes.is_due() {
                self.step_next();
                continue;
            }
            if let Some(event) = self.inner.next() {
                self.handshakes.note_other_event();
                if let Some(event) = self.filter(event) {
                    self.plain_reported = false;
                    return Some(event);
                }
            } else if self.sends_left > 0 {
                self.sends_left -= 1;
                self.resume_next_sending();
            } else if self.handshakes.has_work_left() {
                self.step_next();
            } else {
                return None;
            }
        }
    }

    #[inline]
    fn received(&self, len: usize) -> &[u8] {
        if self.plain_reported { &self.plain[..len] } else { self.inner.received(len) }
    }

    #[inline]
    fn is_ending(&self, conn: ConnId) -> bool {
        let is_end = |event: &Event| matches!(event, Event::Ended(ended, _) if *ended == conn);
        self.reported.iter().any(is_end) || self.inner.is_ending(conn)
    }

    fn tls_fault(&self) -> Option<String> {
        self.fault.clone()
    }

    fn secured(&self, conn: ConnId) -> Option<HandshakeInfo> {
        let stream = self.streams.peek(conn)?;
        let state = stream.machine.as_ref()?.state();
        (!state.is_handshaking()).then(|| HandshakeInfo::from_state(state))
    }

    fn peer_certificates(&self, conn: ConnId) -> Vec<Vec<u8>> {
        let secured = self.streams.peek(conn).filter(|stream| stream.stage != TlsStage::Shaking);
        let machine = secured.and_then(|stream| stream.machine.as_ref());
        let chain = machine.and_then(|machine| machine.state().peer_certificates()).unwrap_or_default();
        chain.iter().map(|certificate| certificate.as_ref().to_vec()).collect()
    }
}
