//! UDP sockets.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use wavetank_driver::{CloseReason, ConnId, Datagrams, Dial, Driver, Errno};
use wavetank_plan::Close;

use super::bench::{Bench, Heard, any_port, pattern};

/// The longest datagram over IPv4.
const LONGEST: usize = 65_507;

fn peer() -> UdpSocket {
    let peer = UdpSocket::bind(any_port()).expect("a free port");
    peer.set_read_timeout(Some(Duration::from_mins(1))).expect("a positive timeout");
    peer
}

fn open<D: Driver>(bench: &mut Bench<D>, to: SocketAddr, from: Option<SocketAddr>) -> ConnId {
    let dial = Dial { datagrams: Some(Datagrams::Whole), from, ..Dial::plain(to) };
    let conn = bench.driver.connect(&dial).expect("a socket");
    assert_eq!(bench.hear(), Heard::Connected(conn));
    conn
}

/// Receives a datagram. Returns it with its sender.
fn receive(peer: &UdpSocket) -> (Vec<u8>, SocketAddr) {
    let mut bytes = vec![0; LONGEST];
    let (len, from) = peer.recv_from(&mut bytes).expect("the driver sends");
    bytes.truncate(len);
    (bytes, from)
}

pub(crate) fn keep_their_bounds<D: Driver>() {
    let (mut bench, peer) = (Bench::<D>::new(), peer());
    let conn = open(&mut bench, peer.local_addr().expect("it is bound"), None);
    for datagram in ["a", "bb", "ccc"] {
        bench.driver.send(conn, datagram.as_bytes()).expect("it is connected");
    }
    bench.out();
    let received = [(); 3].map(|()| receive(&peer));
    assert_eq!(received.each_ref().map(|(bytes, _)| &bytes[..]), [&b"a"[..], b"bb", b"ccc"]);
    let client = received[0].1;
    for datagram in ["x", "", "yy", "", "zzz"] {
        peer.send_to(datagram.as_bytes(), client).expect("loopback delivers");
    }
    for expected in ["x", "yy", "zzz"] {
        assert_eq!(bench.hear(), Heard::Received(conn, expected.as_bytes().to_vec()));
    }
    bench.hear_nothing();
    bench.driver.close(conn, Close::Fin);
    bench.hear_nothing();
}

/// The kernel cuts a long send; a short one stays whole.
pub(crate) fn are_cut<D: Driver>() {
    let (mut bench, peer) = (Bench::<D>::new(), peer());
    let to = peer.local_addr().expect("it is bound");
    let dial = Dial { datagrams: Some(Datagrams::Segments), ..Dial::plain(to) };
    let conn = bench.driver.connect(&dial).expect("a socket");
    assert_eq!(bench.hear(), Heard::Connected(conn));
    let (long, short) = (pattern(3_000), b"short");
    bench.driver.send(conn, &long).expect("it is connected");
    bench.driver.send(conn, short).expect("it is connected");
    bench.out();
    let received = [(); 4].map(|()| receive(&peer).0);
    assert_eq!(received.each_ref().map(Vec::len), [1_200, 1_200, 600, 5]);
    assert_eq!(received.concat(), [&long[..], short].concat());
}

/// More datagrams than the driver reads of one socket in one turn.
pub(crate) fn arrive_all<D: Driver>() {
    let (mut bench, peer) = (Bench::<D>::new(), peer());
    let to = peer.local_addr().expect("it is bound");
    let conns = [open(&mut bench, to, None), open(&mut bench, to, None)];
    for round in 0..3_u8 {
        for conn in conns {
            bench.driver.send(conn, &[round]).expect("it is connected");
        }
        bench.out();
        let clients = [receive(&peer).1, receive(&peer).1];
        for number in 0..100_u8 {
            for client in clients {
                peer.send_to(&[round, number], client).expect("loopback delivers");
            }
        }
        let mut next = [0_u8; 2];
        while next != [100; 2] {
            match bench.hear() {
                Heard::Received(conn, bytes) => {
                    let which = usize::from(conn == conns[1]);
                    assert_eq!(bytes, [round, next[which]], "they arrive in order");
                    next[which] += 1;
                }
                other => panic!("heard {other:?}"),
            }
        }
        bench.hear_nothing();
    }
}

pub(crate) fn are_as_long_as_udp_allows<D: Driver>() {
    let (mut bench, peer) = (Bench::<D>::new(), peer());
    let conn = open(&mut bench, peer.local_addr().expect("it is bound"), None);
    for len in [1, 1_472, 16_384, 16_385, LONGEST] {
        let datagram = pattern(len);
        bench.driver.send(conn, &datagram).expect("it is connected");
        bench.out();
        let (received, client) = receive(&peer);
        assert_eq!(received, datagram);
        peer.send_to(&received, client).expect("loopback delivers");
        assert_eq!(bench.hear(), Heard::Received(conn, datagram));
    }
    assert_eq!(bench.driver.send(conn, &pattern(LONGEST + 1)), Err(Errno(libc::EMSGSIZE)));
    assert_eq!(bench.hear(), Heard::Ended(conn, CloseReason::Broken(Errno(libc::EMSGSIZE))));
    bench.driver.close(conn, Close::Fin);
    bench.hear_nothing();
}

/// The kernel of the peer answers that no program uses the port.
pub(crate) fn find_no_program<D: Driver>() {
    let mut bench = Bench::<D>::new();
    let gone = peer().local_addr().expect("it is bound");
    for _ in 0..3 {
        let conn = open(&mut bench, gone, None);
        bench.driver.send(conn, b"hello").expect("nothing has come back yet");
        bench.out();
        assert_eq!(bench.hear(), Heard::Ended(conn, CloseReason::Broken(Errno(libc::ECONNREFUSED))));
        bench.driver.close(conn, Close::Rst);
        bench.hear_nothing();
    }
}

pub(crate) fn bind_the_source<D: Driver>() {
    let (mut bench, peer) = (Bench::<D>::new(), peer());
    let to = peer.local_addr().expect("it is bound");
    let source = Ipv4Addr::new(127, 0, 0, 2);
    let conn = open(&mut bench, to, Some((source, 0).into()));
    bench.driver.send(conn, b"hello").expect("it is connected");
    bench.out();
    let (_, taken) = receive(&peer);
    assert_eq!(taken.ip(), source);
    // The address of a socket is its own.
    let dial = Dial { datagrams: Some(Datagrams::Whole), from: Some(taken), ..Dial::plain(to) };
    let errno = match bench.driver.connect(&dial) {
        Err(errno) => errno,
        Ok(second) => match bench.hear() {
            Heard::ConnectFailed(failed, errno) if failed == second => errno,
            other => panic!("heard {other:?}"),
        },
    };
    assert_eq!(errno, Errno(libc::EADDRINUSE));
}
