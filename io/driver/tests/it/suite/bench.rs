//! [`Bench`]: a driver on a test bench, with plain blocking sockets as its peers.

use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use wavetank_driver::{Clock, CloseReason, ConnId, Dial, Driver, DriverConfig, Errno, Event};
use wavetank_units::Nanos;

/// Nothing on loopback takes this long; a test that waits longer has failed.
pub(crate) const PATIENCE: Nanos = Nanos::from_secs(60);

/// A driver and its clock.
pub(crate) struct Bench<D> {
    pub(crate) driver: D,
    pub(crate) clock: Clock,
}

/// An event with the bytes it brought.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Accepted(ConnId),
    Connected(ConnId),
    Secured(ConnId),
    ConnectFailed(ConnId, Errno),
    Received(ConnId, Vec<u8>),
    Flushed(ConnId),
    Ended(ConnId, CloseReason),
    Woken,
    AcceptFailed(Errno),
}

impl<D: Driver> Bench<D> {
    pub(crate) fn new() -> Self {
        let clock = Clock::starting_now();
        Self::of(D::new(&DriverConfig::small(clock)).expect("a driver"))
    }

    /// Returns a bench with a driver made elsewhere.
    pub(crate) fn of(driver: D) -> Self {
        Self { clock: driver.clock(), driver }
    }

    /// Listens on a free port of 127.0.0.1.
    pub(crate) fn listen(&mut self) -> SocketAddr {
        self.driver.listen(any_port()).expect("a free port").1
    }

    /// Executes queued commands of the driver: some drivers do this with the next wait.
    pub(crate) fn out(&mut self) {
        self.driver.wait(Nanos(i64::MIN)).expect("waiting works");
    }

    /// Returns the next event within `length`, if any.
    pub(crate) fn hear_within(&mut self, length: Nanos) -> Option<Heard> {
        let until = self.clock.now().after(length);
        loop {
            if let Some(event) = self.driver.next() {
                return Some(self.heard(event));
            }
            if !self.driver.wait(until).expect("waiting works") && self.clock.now() >= until {
                return None;
            }
        }
    }

    /// Returns the next event; there must be one.
    pub(crate) fn hear(&mut self) -> Heard {
        self.hear_within(PATIENCE).expect("an event within the deadline")
    }

    /// Checks that there are no more events.
    pub(crate) fn hear_nothing(&mut self) {
        assert_eq!(self.hear_within(Nanos::from_millis(30)), None);
    }

    /// Connects the driver to a blocking peer.
    pub(crate) fn connected(&mut self) -> (ConnId, TcpStream) {
        let listener = TcpListener::bind(any_port()).expect("a free port");
        let to = listener.local_addr().expect("it is bound");
        let conn = self.driver.connect(&Dial::plain(to)).expect("loopback connects");
        self.out();
        let (peer, _) = listener.accept().expect("the driver connects");
        assert_eq!(self.hear(), Heard::Connected(conn));
        (conn, patient(peer))
    }

    /// Receives until `len` bytes have arrived from `conn`; other events are a failure.
    pub(crate) fn receive(&mut self, conn: ConnId, len: usize) -> Vec<u8> {
        let mut all = Vec::new();
        while all.len() < len {
            match self.hear() {
                Heard::Received(from, bytes) if from == conn => all.extend(bytes),
                other => panic!("expected bytes of {conn:?}, heard {other:?}"),
            }
        }
        all
    }

    fn heard(&self, event: Event) -> Heard {
        match event {
            Event::Accepted(_, conn) => Heard::Accepted(conn),
            Event::Connected(conn) => Heard::Connected(conn),
            Event::Secured(conn) => Heard::Secured(conn),
            Event::ConnectFailed(conn, errno) => Heard::ConnectFailed(conn, errno),
            Event::Received(conn, len) => Heard::Received(conn, self.driver.received(len).to_vec()),
            Event::Flushed(conn) => Heard::Flushed(conn),
            Event::Ended(conn, how) => Heard::Ended(conn, how),
            Event::Woken => Heard::Woken,
            Event::AcceptFailed(_, errno) => Heard::AcceptFailed(errno),
        }
    }
}

/// Port 0 of 127.0.0.1.
pub(crate) fn any_port() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

/// Returns a blocking socket that fails instead of hanging.
pub(crate) fn patient(stream: TcpStream) -> TcpStream {
    let patience = Some(Duration::from_mins(1));
    stream.set_read_timeout(patience).expect("a positive timeout");
    stream.set_write_timeout(patience).expect("a positive timeout");
    stream.set_nodelay(true).expect("a TCP socket");
    stream
}

/// Opens a blocking connection to `to`.
pub(crate) fn dial(to: SocketAddr) -> TcpStream {
    patient(TcpStream::connect(to).expect("a listener is there"))
}

/// Reads exactly `len` bytes of `stream`.
pub(crate) fn read(stream: &mut TcpStream, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    stream.read_exact(&mut bytes).expect("the driver sends");
    bytes
}

/// Returns `len` bytes without repeated sections, so that lost, duplicated and swapped ones are
/// detected.
pub(crate) fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at ^ (at >> 8) ^ (at >> 16)) as u8).collect()
}
