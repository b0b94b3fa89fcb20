//! [`Wire`]: a driver without sockets. A test provides its events and takes the bytes that it
//! sends.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use wavetank_driver::{
    Clock, ConnId, Dial, Driver, DriverConfig, Errno, Event, ListenerId, SendStatus, Tls, TlsClient,
    TlsServer, Waker,
};
use wavetank_plan::Close;
use wavetank_units::Nanos;

/// See the module's description.
pub(crate) struct Wire {
    ends: Rc<RefCell<Ends>>,
    received: Vec<u8>,
    clock: Clock,
}

/// The far ends of the wire.
#[derive(Default)]
pub(crate) struct Ends {
    made: u32,
    /// Events to report, with the bytes of those that bring some.
    heard: VecDeque<(Event, Vec<u8>)>,
    /// Bytes sent by each connection, by slot.
    sent: BTreeMap<u32, Vec<u8>>,
    /// Waits that would have slept.
    pub(crate) sleeps: u32,
}

impl Ends {
    /// Adds an event for the driver to report.
    pub(crate) fn hear(&mut self, event: Event) {
        self.heard.push_back((event, Vec::new()));
    }

    /// Adds bytes for `conn` to receive.
    pub(crate) fn arrive(&mut self, conn: ConnId, bytes: &[u8]) {
        self.heard.push_back((Event::Received(conn, bytes.len()), bytes.to_vec()));
    }

    /// Returns the bytes that `conn` has sent since the last call.
    pub(crate) fn take_sent(&mut self, conn: ConnId) -> Vec<u8> {
        self.sent.remove(&conn.slot).unwrap_or_default()
    }

    /// Returns the number of connections that have sent something.
    pub(crate) fn senders(&self) -> usize {
        self.sent.len()
    }

    /// Returns the id of a new connection.
    pub(crate) fn conn(&mut self) -> ConnId {
        self.made += 1;
        ConnId { slot: self.made, generation: 1 }
    }
}

/// Returns TLS over a wire, and the ends of the wire.
pub(crate) fn wired(
    client: Option<Arc<TlsClient>>,
    server: Option<Arc<TlsServer>>,
) -> (Tls<Wire>, Rc<RefCell<Ends>>) {
    let wire = Wire::new(&DriverConfig::small(Clock::starting_now())).expect("nothing is needed");
    let ends = Rc::clone(&wire.ends);
    (Tls::wrap(wire, client, server), ends)
}

impl Driver for Wire {
    fn new(setup: &DriverConfig) -> Result<Self, Errno> {
        Ok(Self { ends: Rc::default(), received: Vec::new(), clock: setup.clock })
    }

    fn connect(&mut self, _: &Dial) -> Result<ConnId, Errno> {
        let conn = self.ends.borrow_mut().conn();
        self.ends.borrow_mut().hear(Event::Connected(conn));
        Ok(conn)
    }

    fn listen(&mut self, at: SocketAddr) -> Result<(ListenerId, SocketAddr), Errno> {
        Ok((ListenerId(0), at))
    }

    fn stop_accepting(&mut self) {}

    fn send(&mut self, conn: ConnId, bytes: &[u8]) -> Result<SendStatus, Errno> {
        self.ends.borrow_mut().sent.entry(conn.slot).or_default().extend(bytes);
        Ok(SendStatus::All)
    }

    fn send_shared(&mut self, conn: ConnId, bytes: &Arc<[u8]>) -> Result<SendStatus, Errno> {
        self.send(conn, bytes)
    }

    fn bytes_sent(&self) -> u64 {
        0
    }

    fn close(&mut self, _: ConnId, _: Close) {}

    fn shut_down_sending(&mut self, _: ConnId) {}

    fn clock(&self) -> Clock {
        self.clock
    }

    fn wait_from(&mut self, now: Nanos, until: Nanos) -> Result<bool, Errno> {
        let ready = !self.ends.borrow().heard.is_empty();
        self.ends.borrow_mut().sleeps += u32::from(!ready && until > now);
        Ok(ready)
    }

    fn next(&mut self) -> Option<Event> {
        let (event, bytes) = self.ends.borrow_mut().heard.pop_front()?;
        self.received = bytes;
        Some(event)
    }

    fn received(&self, len: usize) -> &[u8] {
        &self.received[..len]
    }

    fn waker(&self) -> Result<Waker, Errno> {
        Err(Errno(rustix::io::Errno::NOSYS.raw_os_error()))
    }

    fn stale(&self) -> u64 {
        0
    }
}
