//! Connecting, listening, accepting.

use std::collections::HashSet;
use std::io::Write;
use std::net::{Ipv6Addr, SocketAddr, TcpListener};

use wavetank_driver::{CloseReason, Dial, Driver, Errno};
use wavetank_plan::Close;

use super::bench::{Bench, Heard, any_port, dial, read};

pub(crate) fn echoes<D: Driver>() {
    echo::<D>(any_port());
}

pub(crate) fn echoes_over_ipv6<D: Driver>() {
    let any_port = SocketAddr::from((Ipv6Addr::LOCALHOST, 0));
    if TcpListener::bind(any_port).is_ok() {
        echo::<D>(any_port);
    } else {
        writeln!(std::io::stderr(), "skipped: this host has no IPv6 loopback").expect("stderr is open");
    }
}

/// Both ends on one driver.
fn echo<D: Driver>(at: SocketAddr) {
    let mut bench = Bench::<D>::new();
    let (_, at) = bench.driver.listen(at).expect("a free port");
    let client = bench.driver.connect(&Dial::plain(at)).expect("loopback connects");
    let mut server = None;
    for _ in 0..2 {
        match bench.hear() {
            Heard::Connected(conn) => assert_eq!(conn, client),
            Heard::Accepted(conn) => server = Some(conn),
            other => panic!("heard {other:?}"),
        }
    }
    let server = server.expect("accepted");
    for round in 0_u8..10 {
        let ping = [round; 100];
        bench.driver.send(client, &ping).expect("connected");
        assert_eq!(bench.receive(server, 100), ping);
        bench.driver.send(server, &ping[..50]).expect("accepted");
        assert_eq!(bench.receive(client, 50), &ping[..50]);
    }
    bench.driver.close(client, Close::Fin);
    assert_eq!(bench.hear(), Heard::Ended(server, CloseReason::Eof));
    bench.driver.close(server, Close::Fin);
    bench.hear_nothing();
}

pub(crate) fn refuses<D: Driver>() {
    let mut bench = Bench::<D>::new();
    let listener = TcpListener::bind(any_port()).expect("a free port");
    let none = listener.local_addr().expect("it is bound");
    drop(listener);
    let errno = match bench.driver.connect(&Dial::plain(none)) {
        Ok(conn) => match bench.hear() {
            Heard::ConnectFailed(failed, errno) if failed == conn => errno,
            other => panic!("heard {other:?}"),
        },
        Err(errno) => errno,
    };
    assert_eq!(errno.symbol(), Some("ECONNREFUSED"));
    bench.hear_nothing();
}

pub(crate) fn binds_the_source<D: Driver>() {
    let mut bench = Bench::<D>::new();
    let listener = TcpListener::bind(any_port()).expect("a free port");
    let to = listener.local_addr().expect("it is bound");
    let free = TcpListener::bind("127.0.0.9:0").expect("a free port");
    let port = free.local_addr().expect("it is bound").port();
    drop(free);
    let mut peers = Vec::new();
    for from in [SocketAddr::from(([127, 0, 0, 9], 0)), SocketAddr::from(([127, 0, 0, 9], port))] {
        let conn =
            bench.driver.connect(&Dial { from: Some(from), ..Dial::plain(to) }).expect("loopback connects");
        bench.out();
        let (peer, seen) = listener.accept().expect("the driver connects");
        peers.push(peer);
        assert_eq!(seen.ip(), from.ip());
        assert!(from.port() == 0 || seen.port() == from.port());
        assert_eq!(bench.hear(), Heard::Connected(conn));
    }
    let elsewhere = SocketAddr::from(([192, 0, 2, 1], 0));
    let errno = match bench.driver.connect(&Dial { from: Some(elsewhere), ..Dial::plain(to) }) {
        Ok(conn) => match bench.hear() {
            Heard::ConnectFailed(failed, errno) if failed == conn => errno,
            other => panic!("{elsewhere} is not an address of this host, heard {other:?}"),
        },
        Err(errno) => errno,
    };
    assert_eq!(errno.symbol(), Some("EADDRNOTAVAIL"));
}

pub(crate) fn reports_both_ends<D: Driver>() {
    let mut bench = Bench::<D>::new();
    let listener = TcpListener::bind(any_port()).expect("a free port");
    let to = listener.local_addr().expect("it is bound");
    let dial = Dial { asks_ends: true, ..Dial::plain(to) };
    // Several connects in parallel, with more bytes in flight than one response has.
    let conns: Vec<_> = (0..8).map(|_| bench.driver.connect(&dial).expect("loopback connects")).collect();
    bench.out();
    let mut accepted: Vec<_> =
        conns.iter().map(|_| listener.accept().expect("the driver connects")).collect();
    let mut seen: HashSet<SocketAddr> = accepted.iter().map(|(_, from)| *from).collect();
    for _ in &conns {
        let Heard::Connected(conn) = bench.hear() else { panic!("it connects") };
        let ends = bench.driver.ends(conn).expect("it is connected");
        assert_eq!(ends.peer, to);
        assert!(seen.remove(&ends.own), "{ends:?} is no end that the peer has, or of another connection");
        bench.driver.send(conn, b"hello").expect("it is connected");
    }
    bench.out();
    for (peer, from) in &mut accepted {
        assert_eq!(read(peer, 5), b"hello", "{from}");
    }
    // Closed before it is connected, or before the kernel was asked: nothing is left of it, and no
    // event follows.
    let early = bench.driver.connect(&dial).expect("loopback connects");
    bench.driver.close(early, Close::Rst);
    assert_eq!(bench.driver.ends(early), Err(Errno(rustix::io::Errno::NOTCONN.raw_os_error())));
    bench.hear_nothing();
}

pub(crate) fn takes_a_tuple_again_and_speaks_immediately<D: Driver>() {
    let mut bench = Bench::<D>::new();
    let listener = TcpListener::bind(any_port()).expect("a free port");
    let other = TcpListener::bind(any_port()).expect("a free port");
    let free = TcpListener::bind("127.0.0.11:0").expect("a free port");
    let from = free.local_addr().expect("it is bound");
    drop(free);
    let to = |listener: &TcpListener| listener.local_addr().expect("it is bound");
    let held = bench
        .driver
        .connect(&Dial { from: Some(from), ..Dial::plain(to(&other)) })
        .expect("loopback connects");
    assert_eq!(bench.hear(), Heard::Connected(held));
    // The same address and port towards another peer, and again during its `TIME_WAIT`: this side
    // closes first.
    for round in 0..3_u8 {
        let dial = Dial { from: Some(from), speaks_at_once: true, ..Dial::plain(to(&listener)) };
        let conn = bench.driver.connect(&dial).expect("loopback connects");
        assert_eq!(bench.hear(), Heard::Connected(conn), "round {round}");
        bench.driver.send(conn, &[round; 10]).expect("connected");
        // Some drivers send with the next wait.
        bench.out();
        let (mut peer, seen) = listener.accept().expect("the driver connects");
        assert_eq!(seen, from);
        assert_eq!(read(&mut peer, 10), [round; 10]);
        bench.driver.close(conn, Close::Fin);
        bench.hear_nothing();
        assert_eq!(std::io::Read::read(&mut peer, &mut [0; 1]).expect("a FIN"), 0);
    }
}

pub(crate) fn hears_a_listener_that_speaks_first<D: Driver>() {
    let mut bench = Bench::<D>::new();
    for round in 0..50_u8 {
        let listener = TcpListener::bind(any_port()).expect("a free port");
        let conn = bench
            .driver
            .connect(&Dial::plain(listener.local_addr().expect("it is bound")))
            .expect("loopback connects");
        bench.out();
        let (mut peer, _) = listener.accept().expect("the driver connects");
        peer.write_all(&[round; 10]).expect("connected");
        drop(peer);
        // By now, all of it may be in one edge: connected, data, end.
        assert_eq!(bench.hear(), Heard::Connected(conn));
        assert_eq!(bench.hear(), Heard::Received(conn, vec![round; 10]));
        assert_eq!(bench.hear(), Heard::Ended(conn, CloseReason::Eof));
        bench.driver.close(conn, Close::Fin);
    }
    bench.hear_nothing();
}

pub(crate) fn accepts_a_crowd<D: Driver>() {
    const CROWD: usize = 200;
    let mut bench = Bench::<D>::new();
    let at = bench.listen();
    let mut peers: Vec<_> = (0..CROWD).map(|_| dial(at)).collect();
    let mut accepted = HashSet::new();
    while accepted.len() < CROWD {
        match bench.hear() {
            Heard::Accepted(conn) => {
                bench.driver.send(conn, b"hi").expect("accepted");
                assert!(accepted.insert(conn));
            }
            other => panic!("heard {other:?}"),
        }
    }
    bench.out();
    for peer in &mut peers {
        assert_eq!(read(peer, 2), b"hi");
    }
    bench.hear_nothing();
}

pub(crate) fn shares_a_port<D: Driver>() {
    let mut one = Bench::<D>::new();
    let at = one.listen();
    let mut other = Bench::<D>::new();
    let (_, same) = other.driver.listen(at).expect("the port is shared");
    assert_eq!(same, at);
    let peers: Vec<_> = (0..64).map(|_| dial(at)).collect();
    let mut accepted = 0;
    while accepted < peers.len() {
        for bench in [&mut one, &mut other] {
            while let Some(heard) = bench.hear_within(wavetank_units::Nanos::ZERO) {
                assert!(matches!(heard, Heard::Accepted(_)), "heard {heard:?}");
                accepted += 1;
            }
        }
    }
    assert_eq!(accepted, peers.len());
}
