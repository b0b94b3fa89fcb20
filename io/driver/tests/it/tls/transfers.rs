//! Transfers of more than the kernel takes, next to other connections.

use std::io::{Read, Write};
use std::sync::Arc;
use std::thread;

use wavetank_driver::{Driver, SendStatus};
use wavetank_plan::Close;

use crate::suite::bench::{Heard, pattern};
use crate::suite::fairness::flood;
use crate::tls::blocking::{accepted, connect, connected};
use crate::tls::peer::flush;

/// More than the kernel buffers for one connection.
const MUCH: usize = 12 << 20;
/// Maximum number of events of the busy connection before the first one of the quiet connection.
/// Without fairness there is no limit.
const BUSY_MAX: usize = 2_000;

pub(crate) fn much_in_both_directions<D: Driver>() {
    let (mut bench, conn, mut peer) = accepted::<D>();
    let all = pattern(MUCH);
    assert_eq!(bench.driver.send(conn, &all), Ok(SendStatus::Pending));
    let reader = thread::spawn(move || {
        let mut bytes = vec![0; MUCH];
        peer.read_exact(&mut bytes).expect("the driver sends");
        // The same in the other direction.
        peer.write_all(&bytes).expect("the driver reads");
        (peer, bytes)
    });
    assert_eq!(bench.hear(), Heard::Flushed(conn));
    assert!(bench.receive(conn, MUCH) == all, "what came back is not what was sent");
    let (mut peer, bytes) = reader.join().expect("it reads all");
    assert!(bytes == all, "what came is not what was sent");
    assert_eq!(bench.driver.bytes_sent(), MUCH as u64);
    assert_ne!(bench.driver.send(conn, b"small").expect("open"), SendStatus::Pending);
    bench.hear_nothing();
    let mut small = [0; 5];
    peer.read_exact(&mut small).expect("the driver sends");
    assert_eq!(&small, b"small");
}

pub(crate) fn the_order_is_kept_while_pending<D: Driver>() {
    let (mut bench, conn, mut peer) = connected::<D>();
    let all = pattern(MUCH);
    let (first, rest) = all.split_at(MUCH - 30_000);
    assert_eq!(bench.driver.send_shared(conn, &Arc::from(first)), Ok(SendStatus::Pending));
    for piece in rest.chunks(1_000) {
        assert_eq!(bench.driver.send(conn, piece), Ok(SendStatus::Pending));
    }
    // The end is announced after all of it, although it is requested before any of it was read.
    bench.driver.shut_down_sending(conn);
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        peer.read_to_end(&mut bytes).expect("a clean end");
        bytes
    });
    assert_eq!(bench.hear(), Heard::Flushed(conn));
    // With delayed sends, the end leaves only during a wait.
    let ended = bench.hear_within(crate::suite::bench::PATIENCE);
    assert!(matches!(ended, Some(Heard::Ended(of, _)) if of == conn), "{ended:?}");
    assert!(reader.join().expect("it reads all") == all, "what came is not what was sent");
}

pub(crate) fn a_flood_lets_others_through<D: Driver>() {
    let (mut bench, flooded, flooder) = connected::<D>();
    let quiet = connect(&mut bench);
    flood(bench, (flooded, flooder), quiet);
}

pub(crate) fn a_long_send_lets_others_through<D: Driver>() {
    let (mut bench, long, mut reader) = connected::<D>();
    let (quiet, mut peer) = connect(&mut bench);
    let swallow = thread::spawn(move || {
        let mut block = vec![0; 1 << 20];
        while reader.read(&mut block).is_ok_and(|len| len > 0) {}
    });
    let block: Arc<[u8]> = pattern(4 << 20).into();
    assert_eq!(bench.driver.send_shared(long, &block), Ok(SendStatus::Pending));
    for round in 0..10_u8 {
        peer.write_all(&[round]).expect("connected");
        let mut before = 0;
        loop {
            match bench.hear() {
                Heard::Received(conn, bytes) => break assert_eq!((conn, bytes), (quiet, vec![round])),
                Heard::Flushed(conn) => {
                    assert_eq!(conn, long);
                    bench.driver.send_shared(long, &block).expect("open");
                }
                other => panic!("heard {other:?}"),
            }
            before += 1;
            assert!(before < BUSY_MAX, "{before} flushes came first");
        }
    }
    bench.driver.close(long, Close::Rst);
    flush(&mut bench);
    swallow.join().expect("the reader ends with the connection");
}
