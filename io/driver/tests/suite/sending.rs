//! Sending more than the kernel takes, and at unusual moments.

use std::net::TcpListener;
use std::thread;

use wavetank_driver::{ConnId, Dial, Driver, Sent};
use wavetank_plan::Close;

use super::bench::{Bench, Heard, any_port, patient, pattern, read};

/// More than the kernel buffers for one connection.
const MUCH: usize = 32 << 20;

pub(crate) fn keeps_what_the_kernel_does_not_take<D: Driver>() {
    let mut bench = Bench::<D>::new();
    let (conn, mut peer) = bench.connected();
    let all = pattern(MUCH);
    for _ in 0..2 {
        assert_eq!(bench.driver.send(conn, &all), Ok(Sent::Pending));
        bench.hear_nothing();
        let reader = thread::spawn(move || {
            let bytes = read(&mut peer, MUCH);
            (peer, bytes)
        });
        assert_eq!(bench.hear(), Heard::Flushed(conn));
        let (back, bytes) = reader.join().expect("it reads all");
        peer = back;
        assert!(bytes == all, "what came is not what was sent");
        assert_eq!(bench.driver.send(conn, b"small"), Ok(Sent::All));
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
    assert_eq!(bench.driver.send(conn, first), Ok(Sent::Pending));
    for piece in rest.chunks(1_000) {
        assert_eq!(bench.driver.send(conn, piece), Ok(Sent::Pending));
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
    if sent == Sent::Pending {
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
