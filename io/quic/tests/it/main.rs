//! Both ends of QUIC, on real sockets.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use wavetank_driver::{
    Clock, CloseReason, ConnId, Dial, DialTls, Driver, DriverConfig, Epoll, Errno, Event, SendStatus,
    TlsClient, TlsServer, TlsServerOptions, Uring, probe_uring,
};
use wavetank_plan::{Close, TlsPlan};
use wavetank_quic::{Quic, QuicListener};
use wavetank_units::Nanos;
use wavetank_wire::h3::records::{self, RecordKind};

/// More turns than any exchange here takes, each of at most 10 ms.
const TURNS_MAX: u32 = 6_000;
const TURN: Nanos = Nanos::from_millis(10);

fn client_tls() -> Arc<TlsClient> {
    let plan = TlsPlan::for_tests(&["h3"]);
    Arc::new(TlsClient::new(&plan, &["localhost".to_owned()]).expect("a good plan"))
}

/// A client and a server in one thread.
struct Pair<D: Driver> {
    clock: Clock,
    client: Quic<D>,
    tls: TlsServer,
    server: QuicListener,
    address: SocketAddr,
    /// What each side has received on streams, as text of records.
    received: [Vec<String>; 2],
    accepted: Option<ConnId>,
    ended: [Option<CloseReason>; 2],
}

impl<D: Driver> Pair<D> {
    fn new() -> Self {
        let clock = Clock::starting_now();
        let options = TlsServerOptions::default();
        let tls = TlsServer::self_signed(&["localhost".to_owned()], &options).expect("a certificate");
        let mut server = QuicListener::with_tls(clock, &tls).expect("it has the cipher");
        let (_, address) = server.listen((Ipv4Addr::LOCALHOST, 0).into()).expect("a free port");
        let inner = D::new(&DriverConfig::small(clock)).expect("a driver");
        let client = Quic::wrap(inner, Some(client_tls())).expect("it has the cipher");
        let (received, accepted, ended) = (Default::default(), None, [None; 2]);
        Self { clock, client, tls, server, address, received, accepted, ended }
    }

    fn connect(&mut self) -> ConnId {
        let tls = Some(DialTls { name: 0, session: 0 });
        let conn = self.client.connect(&Dial { tls, ..Dial::plain(self.address) }).expect("it begins");
        let mut is_connected = false;
        self.turn_until(|pair, event| {
            is_connected |= event == Some(Event::Connected(conn));
            is_connected && pair.accepted.is_some()
        });
        conn
    }

    /// Connects and asks a question. Returns the server's number of the connection.
    fn ask(&mut self) -> ConnId {
        let conn = self.connect();
        self.client.send(conn, &record(0, RecordKind::End, b"question")).expect("it is open");
        self.turn_until(|pair, _| !pair.received[1].is_empty());
        self.accepted.expect("it was accepted")
    }

    /// Turns both drivers until `is_over`, which gets the events of the client.
    fn turn_until(&mut self, mut is_over: impl FnMut(&Self, Option<Event>) -> bool) {
        for _ in 0..TURNS_MAX {
            self.client.wait(self.clock.now().after(TURN)).expect("it waits");
            while let Some(event) = self.client.next() {
                match event {
                    Event::Received(_, len) => note(self.client.received(len), &mut self.received[0]),
                    Event::Ended(_, how) => self.ended[0] = Some(how),
                    _ => {}
                }
                if is_over(self, Some(event)) {
                    return;
                }
            }
            self.server.wait(self.clock.now()).expect("it waits");
            while let Some(event) = self.server.next() {
                match event {
                    Event::Accepted(_, conn) => self.accepted = Some(conn),
                    Event::Received(_, len) => note(self.server.received(len), &mut self.received[1]),
                    Event::Ended(_, how) => self.ended[1] = Some(how),
                    _ => {}
                }
            }
            if is_over(self, None) {
                return;
            }
        }
        panic!("it never happened");
    }
}

fn note(bytes: &[u8], lines: &mut Vec<String>) {
    for record in records::read(bytes) {
        let text = String::from_utf8_lossy(record.bytes);
        lines.push(format!("{} {:?} {text}", record.stream, record.kind));
    }
}

fn record(stream: u64, kind: RecordKind, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    records::push(&mut out, stream, kind, bytes);
    out
}

/// Runs `test` on each driver that this kernel has.
fn on_each(epoll: fn(), uring: fn()) {
    epoll();
    if probe_uring().is_ok() {
        uring();
    }
}

fn streams_are_carried<D: Driver>() {
    let mut pair = Pair::<D>::new();
    let conn = pair.connect();
    let alpn = pair.client.secured(conn).and_then(|secured| secured.alpn);
    assert_eq!(alpn.map(|alpn| alpn.as_str().to_owned()).as_deref(), Some("h3"));
    let asked = [record(2, RecordKind::Data, b"control"), record(0, RecordKind::End, b"question")].concat();
    pair.client.send(conn, &asked).expect("it is open");
    assert_eq!(pair.client.bytes_sent(), 15);
    pair.turn_until(|pair, _| pair.received[1].len() == 2);
    pair.received[1].sort();
    assert_eq!(pair.received[1], ["0 End question", "2 Data control"]);
    let accepted = pair.accepted.expect("it was accepted");
    pair.server.send(accepted, &record(0, RecordKind::End, b"answer")).expect("it is open");
    pair.turn_until(|pair, _| !pair.received[0].is_empty());
    assert_eq!(pair.received[0], ["0 End answer"]);
}

#[test]
fn streams_are_carried_on_each_driver() {
    on_each(streams_are_carried::<Epoll>, streams_are_carried::<Uring>);
}

/// Either way of closing informs the peer.
fn ends_are_reported<D: Driver>() {
    for how in [Close::Fin, Close::Rst] {
        let mut pair = Pair::<D>::new();
        let conn = pair.connect();
        pair.client.close(conn, how);
        pair.turn_until(|pair, _| pair.ended[1].is_some());
        assert_eq!(pair.ended[1], Some(CloseReason::Eof), "{how:?}");
        let mut pair = Pair::<D>::new();
        pair.connect();
        pair.server.close(pair.accepted.expect("it was accepted"), how);
        pair.turn_until(|pair, _| pair.ended[0].is_some());
        assert_eq!(pair.ended[0], Some(CloseReason::Eof), "{how:?}");
    }
}

#[test]
fn ends_are_reported_on_each_driver() {
    on_each(ends_are_reported::<Epoll>, ends_are_reported::<Uring>);
}

/// A server that is started again knows no connection of the earlier one, and resets it.
fn a_new_server_resets<D: Driver>() {
    let mut pair = Pair::<D>::new();
    let conn = pair.connect();
    let server = QuicListener::with_tls(pair.clock, &pair.tls).expect("it has the cipher");
    drop(std::mem::replace(&mut pair.server, server));
    pair.server.listen(pair.address).expect("the earlier server is gone");
    pair.client.send(conn, &record(0, RecordKind::End, b"question")).expect("it is open");
    pair.turn_until(|pair, _| pair.ended[0].is_some());
    assert_eq!(pair.ended[0], Some(CloseReason::Broken(Errno(libc::ECONNRESET))));
}

#[test]
fn a_new_server_resets_on_each_driver() {
    on_each(a_new_server_resets::<Epoll>, a_new_server_resets::<Uring>);
}

/// A connection that ended long before its owner closes it takes nothing from a later one.
fn late_closes_are_harmless<D: Driver>() {
    let mut pair = Pair::<D>::new();
    let first = pair.connect();
    let accepted = pair.accepted.take().expect("it was accepted");
    pair.client.close(first, Close::Fin);
    pair.turn_until(|pair, _| pair.ended[1].is_some());
    // The closing period lasts three probe timeouts, after which QUIC forgets the connection.
    let forgotten = pair.clock.now().after(Nanos::SECOND);
    pair.turn_until(|pair, _| pair.clock.now() > forgotten);
    let second = pair.connect();
    pair.server.close(accepted, Close::Fin);
    pair.client.send(second, &record(0, RecordKind::End, b"question")).expect("it is open");
    pair.turn_until(|pair, _| !pair.received[1].is_empty() || pair.ended[0].is_some());
    assert_eq!((&pair.received[1][..], pair.ended[0]), (&["0 End question".to_owned()][..], None));
}

#[test]
fn late_closes_are_harmless_on_each_driver() {
    on_each(late_closes_are_harmless::<Epoll>, late_closes_are_harmless::<Uring>);
}

/// What was sent before an orderly end arrives before it.
fn closing_delivers<D: Driver>() {
    let mut pair = Pair::<D>::new();
    let accepted = pair.ask();
    let body = vec![b'x'; 1_000_000];
    pair.server.send(accepted, &record(0, RecordKind::End, &body)).expect("it is open");
    pair.server.close(accepted, Close::Fin);
    assert!(pair.server.send(accepted, &record(4, RecordKind::End, b"more")).is_err(), "it is closed");
    pair.turn_until(|pair, _| pair.ended[0].is_some());
    let bytes: usize = pair.received[0].iter().map(|line| line.matches('x').count()).sum();
    assert_eq!((bytes, pair.ended), (body.len(), [Some(CloseReason::Eof), None]));
}

#[test]
fn closing_delivers_on_each_driver() {
    on_each(closing_delivers::<Epoll>, closing_delivers::<Uring>);
}

/// A request that was cancelled before the server allowed its stream gives its place back.
fn cancelled_streams_are_ended<D: Driver>() {
    let mut pair = Pair::<D>::new();
    let conn = pair.connect();
    for id in (0..4_000).step_by(4) {
        pair.client.send(conn, &record(id, RecordKind::End, b"q")).expect("it is open");
    }
    let code = |kind| {
        let mut out = Vec::new();
        records::push_code(&mut out, 4_000, kind, 0x10c);
        out
    };
    let waiting = pair.client.send(conn, &record(4_000, RecordKind::End, b"never")).expect("it is open");
    assert_eq!(waiting, SendStatus::Pending, "the server allows 1,000 streams");
    pair.client.send(conn, &code(RecordKind::Reset)).expect("it is open");
    pair.client.send(conn, &code(RecordKind::Stop)).expect("it is open");
    pair.client.send(conn, &record(4_004, RecordKind::End, b"late")).expect("it is open");
    pair.turn_until(|pair, _| pair.received[1].len() >= 1_000);
    let accepted = pair.accepted.expect("it was accepted");
    for id in (0..4_000).step_by(4) {
        pair.server.send(accepted, &record(id, RecordKind::End, b"a")).expect("it is open");
    }
    pair.turn_until(|pair, _| pair.received[1].iter().any(|line| line == "4004 End late"));
    let of_cancelled = |line: &String| line.starts_with("4000 Reset") || line.starts_with("4000 Stop");
    pair.turn_until(|pair, _| pair.received[1].iter().any(of_cancelled));
}

#[test]
fn cancelled_streams_are_ended_on_each_driver() {
    on_each(cancelled_streams_are_ended::<Epoll>, cancelled_streams_are_ended::<Uring>);
}

/// A request that was answered before all of it was sent ends.
fn early_answers_end_requests<D: Driver>() {
    let mut pair = Pair::<D>::new();
    let conn = pair.connect();
    let long = record(0, RecordKind::End, &vec![b'q'; 64 << 20]);
    assert_eq!(pair.client.send(conn, &long), Ok(SendStatus::Pending));
    pair.turn_until(|pair, _| !pair.received[1].is_empty());
    let accepted = pair.accepted.expect("it was accepted");
    pair.server.send(accepted, &record(0, RecordKind::End, b"a")).expect("it is open");
    let mut is_flushed = false;
    pair.turn_until(|pair, event| {
        is_flushed |= event == Some(Event::Flushed(conn));
        let has_ended = |line: &String| line.starts_with("0 Reset") || line.starts_with("0 End");
        is_flushed && pair.received[1].iter().any(has_ended)
    });
    assert_eq!(pair.received[0], ["0 End a"]);
    assert!(pair.received[1].last().is_some_and(|line| line.starts_with("0 Reset")), "it is not sent on");
}

#[test]
fn early_answers_end_requests_on_each_driver() {
    on_each(early_answers_end_requests::<Epoll>, early_answers_end_requests::<Uring>);
}

/// A connection that is closed because of a fault waits for nothing that follows in its output.
fn a_fault_ends_sending<D: Driver>() {
    let mut pair = Pair::<D>::new();
    let accepted = pair.ask();
    let mut out = Vec::new();
    records::push_code(&mut out, 0, RecordKind::Close, 0x105);
    records::push(&mut out, 0, RecordKind::Data, b"the rest of a body");
    assert_eq!(pair.server.send(accepted, &out), Ok(SendStatus::All));
    pair.turn_until(|pair, _| pair.ended[0].is_some());
}

#[test]
fn a_fault_ends_sending_on_each_driver() {
    on_each(a_fault_ends_sending::<Epoll>, a_fault_ends_sending::<Uring>);
}
