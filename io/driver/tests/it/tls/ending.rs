//! How TLS connections end, and which events follow.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener};

use wavetank_driver::{CloseReason, ConnId, Dial, DialTls, Driver, Errno, SendStatus, TlsServerOptions};
use wavetank_plan::{Close, TlsPlan, TlsVersions};

use crate::suite::bench::{Heard, any_port, dial, patient, pattern};
use crate::tls::blocking::{accepted, connected, forge};
use crate::tls::peer::{TlsBench, bench, client, dial_tls, flush, server, trusting};

pub(crate) fn half_closes<D: Driver>() {
    let (mut bench, conn, mut peer) = connected::<D>();
    bench.driver.send(conn, b"last bytes").expect("open");
    bench.driver.shut_down_sending(conn);
    assert!(bench.driver.send(conn, b"more").is_err());
    flush(&mut bench);
    let mut all = Vec::new();
    // This requires a clean end in TLS: otherwise the library returns an error.
    peer.read_to_end(&mut all).expect("a clean end");
    assert_eq!(all, b"last bytes");
    peer.write_all(b"still here").expect("only one direction is closed");
    assert_eq!(bench.receive(conn, 10), b"still here");
    peer.conn.send_close_notify();
    peer.flush().expect("connected");
    assert_eq!(bench.hear(), Heard::Ended(conn, CloseReason::Eof));
    drop(peer);
    bench.driver.close(conn, Close::Fin);
    bench.hear_nothing();
}

pub(crate) fn knows_the_end_that_came_with_bytes<D: Driver>() {
    for goodbye in [true, false] {
        let (mut bench, conn, mut peer) = connected::<D>();
        peer.write_all(b"still open").expect("connected");
        assert_eq!(bench.receive(conn, 10), b"still open");
        assert!(!bench.driver.is_ending(conn));
        peer.write_all(b"the last").expect("connected");
        if goodbye {
            peer.conn.send_close_notify();
            peer.flush().expect("connected");
        }
        peer.sock.shutdown(Shutdown::Write).expect("connected");
        assert_eq!(bench.receive(conn, 8), b"the last");
        assert!(bench.driver.is_ending(conn), "announced: {goodbye}");
        let how = if goodbye { CloseReason::Eof } else { CloseReason::Truncated };
        assert_eq!(bench.hear(), Heard::Ended(conn, how));
        bench.driver.close(conn, Close::Fin);
    }
}

pub(crate) fn answers_after_the_end_of_the_peer<D: Driver>() {
    let (mut bench, conn, mut peer) = accepted::<D>();
    peer.write_all(b"question").expect("connected");
    peer.conn.send_close_notify();
    peer.flush().expect("connected");
    peer.sock.shutdown(Shutdown::Write).expect("connected");
    assert_eq!(bench.receive(conn, 8), b"question");
    assert_eq!(bench.hear(), Heard::Ended(conn, CloseReason::Eof));
    bench.hear_nothing();
    assert_ne!(bench.driver.send(conn, b"answer").map_err(Errno::symbol), Err(Some("EPIPE")));
    bench.driver.close(conn, Close::Fin);
    flush(&mut bench);
    let mut all = Vec::new();
    peer.read_to_end(&mut all).expect("a clean end");
    assert_eq!(all, b"answer");
}

pub(crate) fn reports_an_end_without_close_notify<D: Driver>() {
    let (mut bench, conn, mut peer) = connected::<D>();
    peer.write_all(b"cut sh").expect("connected");
    peer.sock.shutdown(Shutdown::Both).expect("connected");
    assert_eq!(bench.receive(conn, 6), b"cut sh");
    assert_eq!(bench.hear(), Heard::Ended(conn, CloseReason::Truncated));
    bench.driver.close(conn, Close::Fin);
    bench.hear_nothing();
}

pub(crate) fn reports_a_reset<D: Driver>() {
    let (mut bench, conn, peer) = connected::<D>();
    bench.driver.send(conn, b"never read").expect("open");
    flush(&mut bench);
    // Closing with unread data is a reset (RFC 2525, 2.17).
    drop(peer.sock);
    match bench.hear() {
        Heard::Ended(of, CloseReason::Broken(errno)) => {
            assert_eq!((of, errno.symbol()), (conn, Some("ECONNRESET")));
        }
        other => panic!("heard {other:?}"),
    }
    bench.driver.close(conn, Close::Fin);
    bench.hear_nothing();
}

pub(crate) fn hears_what_came_before_a_send_fails<D: Driver>() {
    for len in [9, 300_000] {
        let (mut bench, conn, mut peer) = connected::<D>();
        bench.driver.send(conn, b"never read").expect("open");
        flush(&mut bench);
        peer.write_all(b"the answer").expect("connected");
        drop(peer.sock);
        // It is reported now, or later.
        let _ = bench.driver.send(conn, &pattern(len));
        assert_eq!(bench.receive(conn, 10), b"the answer");
        let broken = bench.hear();
        assert!(matches!(broken, Heard::Ended(of, CloseReason::Broken(_)) if of == conn), "heard {broken:?}");
        bench.driver.close(conn, Close::Fin);
        bench.hear_nothing();
    }
}

pub(crate) fn says_goodbye_unless_it_resets<D: Driver>() {
    let (mut bench, conn, mut peer) = accepted::<D>();
    bench.driver.close(conn, Close::Fin);
    flush(&mut bench);
    assert_eq!(peer.read(&mut [0; 10]).expect("a clean end"), 0);
    let (mut bench, conn, mut peer) = accepted::<D>();
    bench.driver.close(conn, Close::Rst);
    flush(&mut bench);
    let error = peer.read(&mut [0; 10]).expect_err("a reset, not an end");
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

pub(crate) fn an_end_in_the_handshake_is_a_fault<D: Driver>() {
    let mut bench = bench::<D>(Some(client(&trusting())), Some(server(&TlsServerOptions::default())));
    let listener = TcpListener::bind(any_port()).expect("a free port");
    let to = listener.local_addr().expect("it is bound");
    let conn = bench.driver.connect(&dial_tls(to, 0)).expect("loopback connects");
    flush(&mut bench);
    let (peer, _) = listener.accept().expect("the driver connects");
    peer.shutdown(Shutdown::Write).expect("connected");
    assert_eq!(bench.hear(), Heard::Connected(conn));
    check_fault(&mut bench, conn, "closed the connection in the TLS handshake");
    // The same for a client.
    let at = bench.listen();
    let peer = dial(at);
    let Heard::Accepted(conn) = bench.hear() else { panic!("a peer dials") };
    peer.shutdown(Shutdown::Write).expect("connected");
    check_fault(&mut bench, conn, "closed the connection in the TLS handshake");
    bench.hear_nothing();
}

pub(crate) fn nonsense_is_a_fault<D: Driver>() {
    let mut bench = bench::<D>(Some(client(&trusting())), Some(server(&TlsServerOptions::default())));
    let listener = TcpListener::bind(any_port()).expect("a free port");
    let to = listener.local_addr().expect("it is bound");
    let conn = bench.driver.connect(&dial_tls(to, 0)).expect("loopback connects");
    flush(&mut bench);
    let (mut peer, _) = listener.accept().expect("the driver connects");
    peer.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").expect("connected");
    assert_eq!(bench.hear(), Heard::Connected(conn));
    check_fault(&mut bench, conn, "does not speak TLS");
    let at = bench.listen();
    let mut peer = dial(at);
    peer.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("connected");
    let Heard::Accepted(conn) = bench.hear() else { panic!("a peer dials") };
    check_fault(&mut bench, conn, "does not speak TLS");
    // A peer that does not use TLS gets a fatal TLS alert (21).
    flush(&mut bench);
    let mut all = Vec::new();
    patient(peer).read_to_end(&mut all).expect("closed");
    assert_eq!((all[0], all[5]), (21, 2), "{all:?}");
}

#[track_caller]
fn check_fault<D: Driver>(bench: &mut TlsBench<D>, conn: ConnId, words: &str) {
    assert_eq!(bench.hear(), Heard::Ended(conn, CloseReason::Tls));
    let fault = bench.driver.tls_fault().expect("a fault is reported");
    assert!(fault.contains(words), "{fault}");
    assert_eq!(bench.driver.secured(conn), None);
    assert!(!matches!(bench.driver.send(conn, b"x"), Ok(SendStatus::All)), "nothing leaves after a fault");
    bench.driver.close(conn, Close::Fin);
}

pub(crate) fn refuses_a_dead_id<D: Driver>() {
    let (mut bench, conn, _peer) = connected::<D>();
    bench.driver.close(conn, Close::Fin);
    assert!(bench.driver.send(conn, b"x").is_err());
    assert_eq!(bench.driver.secured(conn), None);
    bench.driver.close(conn, Close::Fin);
    bench.driver.shut_down_sending(conn);
    bench.hear_nothing();
}

/// Even a client that accepts any certificate detects this: the key must be that of the
/// certificate.
pub(crate) fn a_forged_signature_is_found_out<D: Driver>() {
    for versions in [TlsVersions::Tls12, TlsVersions::Tls13] {
        let mut bench = bench::<D>(Some(client(&TlsPlan { versions, ..trusting() })), None);
        let listener = TcpListener::bind(any_port()).expect("a free port");
        let to = listener.local_addr().expect("it is bound");
        let conn = bench.driver.connect(&dial_tls(to, 0)).expect("loopback connects");
        let shaking = std::thread::spawn(move || forge(&listener));
        assert_eq!(bench.hear(), Heard::Connected(conn));
        check_fault(&mut bench, conn, "signature is wrong");
        flush(&mut bench);
        let error = shaking.join().expect("no panic").expect_err("the client does not go along");
        assert!(error.to_string().contains("DecryptError"), "{error}");
    }
}

/// Bytes intended for TLS are never sent unencrypted.
pub(crate) fn refuses_an_unnamed_host<D: Driver>() {
    let listener = TcpListener::bind(any_port()).expect("a free port");
    let to = listener.local_addr().expect("it is bound");
    let refused = |bench: &mut TlsBench<D>, name| {
        let dial = Dial { tls: Some(DialTls { name, session: 0 }), ..Dial::plain(to) };
        bench.driver.connect(&dial).is_err()
    };
    let mut with = bench::<D>(Some(client(&trusting())), None);
    assert!(refused(&mut with, 1) && !refused(&mut with, 0));
    assert!(refused(&mut bench::<D>(None, None), 0));
}
