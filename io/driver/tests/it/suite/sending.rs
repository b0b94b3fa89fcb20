//! Sending more than the kernel takes, and at unusual moments.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use wavetank_driver::{ConnId, Dial, Driver, SendStatus};
use wavetank_plan::Close;
use wavetank_units::Nanos;

use super::bench::{Bench, Heard, any_port, patient, pattern, read};

/// More than the kernel buffers for one connection.
const MUCH: usize = 32 << 20;

pub(crate) fn keeps_what_the_kernel_does_not_take<D: Driver>() {
    let mut bench = Bench::<D>::new();
    let (conn, mut peer) = bench.connected();
    let all = pattern(MUCH);
    for _ in 0..2 {
        assert_eq!(bench.driver.send(conn, &all), Ok(SendStatus::Pending));
        bench.hear_nothing();
        let reader = thread::spawn(move || {
            let bytes = read(&mut peer, MUCH);
            (peer, bytes)
        });
        assert_eq!(bench.hear(), Heard::Flushed(conn));
        let (back, bytes) = reader.join().expect("it reads all");
        peer = back;
        assert!(bytes == all, "what came is not what was sent");
        assert_eq!(bench.driver.send(conn, b"small"), Ok(SendStatus::All));
        bench.out();
        assert_eq!(read(&mut peer, 5), b"small");
    }
    bench.hear_nothing();
}

pub(crate) fn keeps_the_order_while_pending<D: Driver>() {
    let mut bench = Bench::<D>::new();
    let (conn, mut peer) = bench.connected();
    let all = pattern(MUCH);
    let (first, rest) = all.split_at(MUCH - 30_000);
    assert_eq!(bench.driver.send(conn, first), Ok(SendStatus::Pending));
    for piece in rest.chunks(1_000) {
        assert_eq!(bench.driver.send(conn, piece), Ok(SendStatus::Pending));
    }
    let reader = thread::spawn(move || (read(&mut peer, MUCH), peer));
    assert_eq!(bench.hear(), Heard::Flushed(conn));
    let (bytes, _peer) = reader.join().expect("it reads all");
    assert!(bytes == all, "what came is not what was sent");
    bench.hear_nothing();
}

pub(crate) fn sends_before_connected<D: Driver>() {
    let mut bench = Bench::<D>::new();
    let listener = TcpListener::bind(any_port()).expect("a free port");
    let conn =
        bench.driver.connect(&Dial::plain(listener.local_addr().expect("bound"))).expect("loopback connects");
    let sent = bench.driver.send(conn, b"early").expect("kept or taken");
    bench.out();
    let (peer, _) = listener.accept().expect("the driver connects");
    assert_eq!(bench.hear(), Heard::Connected(conn));
    if sent == SendStatus::Pending {
        assert_eq!(bench.hear(), Heard::Flushed(conn));
    }
    assert_eq!(read(&mut patient(peer), 5), b"early");
}

pub(crate) fn refuses_a_dead_id<D: Driver>() {
    let mut bench = Bench::<D>::new();
    let (conn, _peer) = bench.connected();
    bench.driver.close(conn, Close::Fin);
    assert!(bench.driver.send(conn, b"x").is_err());
    bench.driver.close(conn, Close::Fin);
    bench.driver.shut_down_sending(conn);
    let never = ConnId { slot: 4_000_000, generation: 3 };
    assert!(bench.driver.send(never, b"x").is_err());
    bench.driver.close(never, Close::Rst);
    bench.hear_nothing();
}

pub(crate) fn reports_unsent_bytes<D: Driver>() {
    let mut bench = Bench::<D>::new();
    for round in 0..20 {
        let (conn, mut peer) = bench.connected();
        let (other, mut living) = bench.connected();
        bench.driver.send(conn, b"never read").expect("connected");
        bench.out();
        assert_eq!(bench.driver.take_unsent(), None);
        peer.write_all(b"answer").expect("connected");
        // Closing with unread data is a reset (RFC 2525, 2.17).
        drop(peer);
        let before = bench.driver.bytes_sent();
        let mut reported = 0;
        for _ in 0..3 {
            let sent = bench.driver.send(conn, b"too late");
            reported += u32::from(sent == Ok(SendStatus::All));
            assert_eq!(bench.driver.send(other, b"in time"), Ok(SendStatus::All));
        }
        if round % 2 == 0 {
            bench.out();
        } else {
            bench.driver.send_now();
        }
        let unsent = std::iter::from_fn(|| bench.driver.take_unsent()).collect::<Vec<_>>();
        let expected = if reported > 0 { vec![(conn, reported)] } else { Vec::new() };
        assert_eq!(unsent, expected, "round {round}");
        assert!(reported == 0 || D::SENDS_LATER);
        assert_eq!(bench.driver.bytes_sent() - before, 21, "round {round}");
        assert_eq!(read(&mut living, 21), b"in timein timein time");
        bench.driver.close(conn, Close::Fin);
        bench.driver.close(other, Close::Fin);
    }
    // Entries that the owner does not take are dropped.
    let (conn, peer) = bench.connected();
    bench.driver.send(conn, b"never read").expect("connected");
    bench.out();
    drop(peer);
    let _ = bench.driver.send(conn, b"too late");
    bench.out();
    bench.out();
    assert_eq!(bench.driver.take_unsent(), None);
}

/// Bytes of one send, for small sends.
const LITTLE: usize = 10_000;

pub(crate) fn fills_up_with_small_sends<D: Driver>() {
    let mut bench = Bench::<D>::new();
    let (conn, mut peer) = bench.connected();
    let all = pattern(MUCH);
    let before = bench.driver.bytes_sent();
    let mut pieces = all.chunks(LITTLE);
    let mut handed_over = 0;
    // Three in each turn: a send that follows a partly taken one must not overtake its rest.
    for number in 1.. {
        let piece = pieces.next().expect("the kernel does not buffer that much");
        handed_over += piece.len();
        if bench.driver.send(conn, piece).expect("connected") == SendStatus::Pending {
            break;
        }
        if number % 3 == 0 {
            bench.out();
        }
    }
    bench.out();
    assert!(bench.driver.bytes_sent() - before < handed_over as u64);
    for piece in pieces {
        assert_eq!(bench.driver.send(conn, piece), Ok(SendStatus::Pending));
    }
    let reader = thread::spawn(move || (read(&mut peer, MUCH), peer));
    assert_eq!(bench.hear(), Heard::Flushed(conn));
    let (bytes, _peer) = reader.join().expect("it reads all");
    assert!(bytes == all, "what came is not what was sent");
    assert_eq!(bench.driver.bytes_sent() - before, MUCH as u64);
    bench.hear_nothing();
}

pub(crate) fn closes_behind_small_sends<D: Driver>() {
    let all = pattern(MUCH);
    // Closed when the kernel has all bytes, and when it took less than the last send.
    for full in [false, true] {
        let mut bench = Bench::<D>::new();
        let (conn, peer) = bench.connected();
        let before = bench.driver.bytes_sent();
        let mut promised = 0;
        for piece in all.chunks(LITTLE) {
            if bench.driver.send(conn, piece) != Ok(SendStatus::All) {
                break;
            }
            promised += piece.len();
            if !full {
                break;
            }
            bench.out();
            if bench.driver.bytes_sent() - before < promised as u64 {
                break;
            }
        }
        bench.driver.close(conn, Close::Fin);
        let reader = thread::spawn(move || {
            let (mut peer, mut bytes) = (peer, Vec::new());
            peer.read_to_end(&mut bytes).expect("a clean end");
            bytes
        });
        while !reader.is_finished() {
            assert_eq!(bench.hear_within(Nanos::from_millis(5)), None);
        }
        let bytes = reader.join().expect("it reads all");
        assert!(bytes.len() >= promised, "{} of {promised} bytes", bytes.len());
        assert!(bytes == all[..bytes.len()], "what came is not what was sent");
    }
}
