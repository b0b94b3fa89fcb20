//! How connections end, and which events follow.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};

use wavetank_driver::{CloseReason, ConnId, Driver, SendStatus};
use wavetank_plan::Close;

use super::bench::{Bench, Heard, dial, pattern, read};

pub(crate) fn half_closes<D: Driver>() {
    let mut bench = Bench::<D>::new();
    let (conn, mut peer) = bench.connected();
    bench.driver.send(conn, b"last bytes").expect("connected");
    bench.driver.shut_down_sending(conn);
    bench.out();
    let mut all = Vec::new();
    peer.read_to_end(&mut all).expect("a clean end");
    assert_eq!(all, b"last bytes");
    peer.write_all(b"still here").expect("only one direction is closed");
    assert_eq!(bench.receive(conn, 10), b"still here");
    drop(peer);
    assert_eq!(bench.hear(), Heard::Ended(conn, CloseReason::Eof));
    bench.driver.close(conn, Close::Fin);
    bench.hear_nothing();
}

pub(crate) fn answers_after_the_end_of_the_peer<D: Driver>() {
    let mut bench = Bench::<D>::new();
    let (conn, mut peer) = bench.connected();
    peer.write_all(b"question").expect("connected");
    peer.shutdown(Shutdown::Write).expect("connected");
    assert_eq!(bench.hear(), Heard::Received(conn, b"question".to_vec()));
    assert_eq!(bench.hear(), Heard::Ended(conn, CloseReason::Eof));
    assert_eq!(bench.driver.send(conn, b"answer"), Ok(SendStatus::All));
    bench.driver.close(conn, Close::Fin);
    bench.out();
    let mut all = Vec::new();
    peer.read_to_end(&mut all).expect("a clean end");
    assert_eq!(all, b"answer");
}

pub(crate) fn reports_the_end_once<D: Driver>() {
    let mut bench = Bench::<D>::new();
    let (conn, mut peer) = bench.connected();
    let all = pattern(32 << 20);
    assert_eq!(bench.driver.send(conn, &all), Ok(SendStatus::Pending));
    peer.shutdown(Shutdown::Write).expect("connected");
    assert_eq!(bench.hear(), Heard::Ended(conn, CloseReason::Eof));
    // Its reads make room, edge after edge. Each edge also says "readable", which must not be a
    // second end.
    let reader = std::thread::spawn(move || read(&mut peer, 32 << 20));
    assert_eq!(bench.hear(), Heard::Flushed(conn));
    assert!(reader.join().expect("it reads all") == all, "what came is not what was sent");
    // Only now is the peer completely gone. Whether that differs from a half close depends on the
    // kernel.
    if let Some(heard) = bench.hear_within(wavetank_units::Nanos::from_millis(30)) {
        assert!(matches!(heard, Heard::Ended(_, CloseReason::Broken(_))), "heard {heard:?}");
    }
}

pub(crate) fn reports_a_reset<D: Driver>() {
    let mut bench = Bench::<D>::new();
    let (conn, peer) = bench.connected();
    bench.driver.send(conn, b"never read").expect("connected");
    bench.out();
    // Closing with unread data is a reset (RFC 2525, 2.17).
    drop(peer);
    match bench.hear() {
        Heard::Ended(of, CloseReason::Broken(errno)) => {
            assert_eq!((of, errno.symbol()), (conn, Some("ECONNRESET")));
        }
        other => panic!("heard {other:?}"),
    }
    assert!(bench.driver.send(conn, b"x").is_err());
    bench.driver.close(conn, Close::Fin);
    bench.hear_nothing();
}

/// The kernel may wake a receive once for both.
pub(crate) fn reports_a_reset_after_bytes<D: Driver>() {
    let mut bench = Bench::<D>::new();
    let at = bench.listen();
    for round in 0..200 {
        // The driver may be ahead of the bytes, or behind the reset.
        let (conn, mut peer) = if round % 2 == 0 {
            bench.connected()
        } else {
            let peer = dial(at);
            match bench.hear() {
                Heard::Accepted(conn) => (conn, peer),
                other => panic!("heard {other:?}"),
            }
        };
        if round % 4 < 2 {
            bench.out();
        }
        peer.write_all(b"part of").expect("connected");
        rustix::net::sockopt::set_socket_linger(&peer, Some(std::time::Duration::ZERO)).expect("a socket");
        drop(peer);
        assert_eq!(bench.hear(), Heard::Received(conn, b"part of".to_vec()), "round {round}");
        match bench.hear() {
            Heard::Ended(of, CloseReason::Broken(errno)) => {
                assert_eq!((of, errno.symbol()), (conn, Some("ECONNRESET")), "round {round}");
            }
            other => panic!("heard {other:?} in round {round}"),
        }
        bench.driver.close(conn, Close::Fin);
    }
}

/// Bytes that arrived before the peer's reset are reported, even if a send detects the reset first.
pub(crate) fn hears_what_came_before_a_send_fails<D: Driver>() {
    let mut bench = Bench::<D>::new();
    for round in 0..20 {
        let (conn, mut peer) = bench.connected();
        bench.driver.send(conn, b"never read").expect("connected");
        bench.out();
        let answer = pattern(10_000);
        peer.write_all(&answer).expect("it fits the buffers");
        // Closing with unread data is a reset (RFC 2525, 2.17).
        drop(peer);
        let len = if round % 2 == 0 { 9 } else { 100_000 };
        // It is reported now, or later.
        let _ = bench.driver.send(conn, &pattern(len));
        assert!(bench.receive(conn, answer.len()) == answer, "what came is not what was sent, round {round}");
        broke(&mut bench, conn);
        assert!(bench.driver.send(conn, b"x").is_err());
        bench.hear_nothing();
        bench.driver.close(conn, Close::Fin);
    }
}

/// The same if the send was taken in part before.
pub(crate) fn hears_what_came_before_a_long_send_fails<D: Driver>() {
    let mut bench = Bench::<D>::new();
    for half in [false, true] {
        let (conn, mut peer) = bench.connected();
        assert_eq!(bench.driver.send(conn, &pattern(32 << 20)), Ok(SendStatus::Pending));
        bench.hear_nothing();
        let answer = pattern(10_000);
        peer.write_all(&answer).expect("it fits the buffers");
        if half {
            peer.shutdown(Shutdown::Write).expect("connected");
            assert!(bench.receive(conn, answer.len()) == answer, "what came is not what was sent");
            assert_eq!(bench.hear(), Heard::Ended(conn, CloseReason::Eof));
        }
        drop(peer);
        if !half {
            assert!(bench.receive(conn, answer.len()) == answer, "what came is not what was sent");
        }
        broke(&mut bench, conn);
        bench.driver.close(conn, Close::Fin);
        bench.hear_nothing();
    }
}

/// Checks that the next event is the break of `conn`.
#[track_caller]
fn broke<D: Driver>(bench: &mut Bench<D>, conn: ConnId) {
    match bench.hear() {
        Heard::Ended(of, CloseReason::Broken(errno)) => {
            assert_eq!(of, conn);
            assert!(matches!(errno.symbol(), Some("ECONNRESET" | "EPIPE")), "{errno}");
        }
        other => panic!("heard {other:?}"),
    }
}

pub(crate) fn resets<D: Driver>() {
    let mut bench = Bench::<D>::new();
    let (conn, mut peer) = bench.connected();
    bench.driver.close(conn, Close::Rst);
    bench.out();
    let error = peer.read(&mut [0; 10]).expect_err("a reset, not an end");
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

/// Bytes reported as sent are sent, and on no later connection.
pub(crate) fn resets_behind_small_sends<D: Driver>() {
    let mut bench = Bench::<D>::new();
    for round in 0..50_u8 {
        let (conn, mut peer) = bench.connected();
        assert_eq!(bench.driver.send(conn, &[round; 9]), Ok(SendStatus::All));
        bench.driver.close(conn, Close::Rst);
        let (later, mut next) = bench.connected();
        assert_eq!(read(&mut peer, 9), [round; 9]);
        let error = peer.read(&mut [0; 10]).expect_err("a reset, not an end");
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        next.set_nonblocking(true).expect("a socket");
        let nothing = next.read(&mut [0; 10]).expect_err("nothing was sent here");
        assert_eq!(nothing.kind(), ErrorKind::WouldBlock);
        bench.driver.close(later, Close::Fin);
    }
}

pub(crate) fn reads_data_and_end_of_one_edge<D: Driver>() {
    let mut bench = Bench::<D>::new();
    for len in [1, 1_000, 64 * 1024, 64 * 1024 + 1, 300_000] {
        let (conn, mut peer) = bench.connected();
        let all = pattern(len);
        peer.write_all(&all).expect("it fits the buffers");
        drop(peer);
        let mut received = Vec::new();
        while received.len() < len {
            let event = bench.hear();
            let Heard::Received(from, bytes) = event else { panic!("expected bytes, heard {event:?}") };
            assert_eq!(from, conn);
            received.extend(bytes);
            let missing = len - received.len();
            assert!(missing == 0 || !bench.driver.is_ending(conn), "{missing} of {len} bytes follow");
        }
        assert!(received == all, "what came is not what was sent");
        assert_eq!(bench.hear(), Heard::Ended(conn, CloseReason::Eof));
        bench.driver.close(conn, Close::Fin);
    }
}

pub(crate) fn knows_the_end_that_came_with_bytes<D: Driver>() {
    let mut bench = Bench::<D>::new();
    for close in [true, false] {
        let (conn, mut peer) = bench.connected();
        peer.write_all(b"still open").expect("connected");
        assert_eq!(bench.hear(), Heard::Received(conn, b"still open".to_vec()));
        assert!(!bench.driver.is_ending(conn));
        // On loopback both are there before the next wait.
        peer.write_all(b"the last").expect("connected");
        peer.shutdown(Shutdown::Write).expect("connected");
        let open = if close {
            drop(peer);
            None
        } else {
            Some(peer)
        };
        assert_eq!(bench.hear(), Heard::Received(conn, b"the last".to_vec()));
        assert!(bench.driver.is_ending(conn), "closed: {close}");
        assert_eq!(bench.hear(), Heard::Ended(conn, CloseReason::Eof));
        bench.driver.close(conn, Close::Fin);
        drop(open);
    }
}

pub(crate) fn drops_what_is_stale<D: Driver>() {
    let mut bench = Bench::<D>::new();
    let mut pairs: Vec<_> = (0..8).map(|_| bench.connected()).collect();
    for (_, peer) in &mut pairs {
        peer.write_all(b"now").expect("connected");
    }
    // All are ready in one batch; the first one with an event closes all others.
    let Heard::Received(first, _) = bench.hear() else { panic!("bytes are there") };
    for (conn, _) in &pairs {
        if *conn != first {
            bench.driver.close(*conn, Close::Rst);
        }
    }
    // Their slots are reused immediately, by connections that must not receive the old bytes.
    let again: Vec<_> = (0..7).map(|_| bench.connected()).collect();
    for (conn, _) in &again {
        assert!(pairs.iter().all(|(old, _)| old != conn), "{conn:?} is an old id");
    }
    bench.hear_nothing();
    assert!(bench.driver.stale() <= 7);
}

pub(crate) fn gives_slots_a_new_generation<D: Driver>() {
    let mut bench = Bench::<D>::new();
    let at = bench.listen();
    let mut last = None;
    for _ in 0..100 {
        let peer = dial(at);
        let Heard::Accepted(conn) = bench.hear() else { panic!("a peer dials") };
        assert_ne!(Some(conn), last);
        last = Some(conn);
        bench.driver.close(conn, Close::Rst);
        drop(peer);
    }
    bench.hear_nothing();
}

pub(crate) fn lets_go_of_the_port<D: Driver>() {
    let mut first = Bench::<D>::new();
    let at = first.listen();
    let _peer = dial(at);
    assert!(matches!(first.hear(), Heard::Accepted(_)));
    drop(first);
    let none = TcpStream::connect(at).expect_err("no listener is left");
    assert_eq!(none.kind(), ErrorKind::ConnectionRefused);
    let mut second = Bench::<D>::new();
    second.driver.listen(at).expect("the port is free");
    let peers: Vec<_> = (0..20).map(|_| dial(at)).collect();
    for _ in &peers {
        assert!(matches!(second.hear(), Heard::Accepted(_)));
    }
}

/// Open connections stay, no new ones are accepted, and another socket may listen there
/// immediately.
pub(crate) fn listens_no_more<D: Driver>() {
    let mut first = Bench::<D>::new();
    let at = first.listen();
    let mut peer = dial(at);
    let Heard::Accepted(conn) = first.hear() else { panic!("a peer dials") };
    first.driver.stop_accepting();
    let none = TcpStream::connect(at).expect_err("no listener is left");
    assert_eq!(none.kind(), ErrorKind::ConnectionRefused);
    let mut second = Bench::<D>::new();
    second.driver.listen(at).expect("the port is free");
    let peers: Vec<_> = (0..20).map(|_| dial(at)).collect();
    for _ in &peers {
        assert!(matches!(second.hear(), Heard::Accepted(_)));
    }
    peer.write_all(b"still here").expect("it is connected to the first");
    assert_eq!(first.receive(conn, 10), b"still here");
    first.hear_nothing();
}
