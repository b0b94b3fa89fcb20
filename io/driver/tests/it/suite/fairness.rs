//! One busy connection does not keep the others waiting.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use wavetank_driver::{ConnId, Driver, SendStatus};

use super::bench::{Bench, Heard, pattern};

/// Maximum number of events of the busy connection before the first one of the quiet connection.
/// Without fairness there is no limit.
const BUSY_MAX: usize = 2_000;

pub(crate) fn a_flood_lets_others_through<D: Driver>() {
    let mut bench = Bench::<D>::new();
    let (busy, quiet) = (bench.connected(), bench.connected());
    flood(bench, busy, quiet);
}

/// The peer of the first connection floods it; events of the second one are still reported.
pub(crate) fn flood<D: Driver>(
    mut bench: Bench<D>,
    (flooded, mut flooder): (ConnId, impl Write + Send + 'static),
    (quiet, mut peer): (ConnId, impl Write),
) {
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let flood = thread::spawn(move || {
        let block = pattern(1 << 18);
        while !stopped.load(Ordering::Relaxed) {
            if flooder.write_all(&block).is_err() {
                return;
            }
        }
    });
    for round in 0..20_u8 {
        // Waits until the flood is flowing.
        while !matches!(bench.hear(), Heard::Received(conn, _) if conn == flooded) {}
        peer.write_all(&[round]).expect("connected");
        let mut before = 0;
        loop {
            match bench.hear() {
                Heard::Received(conn, bytes) if conn == quiet => break assert_eq!(bytes, [round]),
                Heard::Received(..) => before += 1,
                other => panic!("heard {other:?}"),
            }
            assert!(before < BUSY_MAX, "{before} receives of the flood came first");
        }
    }
    stop.store(true, Ordering::Relaxed);
    bench.driver.close(flooded, wavetank_plan::Close::Rst);
    bench.out();
    flood.join().expect("the flooder stops");
}

pub(crate) fn a_long_send_lets_others_through<D: Driver>() {
    let mut bench = Bench::<D>::new();
    let (long, mut reader) = bench.connected();
    let (quiet, mut peer) = bench.connected();
    let swallow = thread::spawn(move || {
        let mut block = vec![0; 1 << 20];
        while reader.read(&mut block).is_ok_and(|len| len > 0) {}
    });
    let block = pattern(8 << 20);
    let feed = |bench: &mut Bench<D>| while bench.driver.send(long, &block) == Ok(SendStatus::All) {};
    feed(&mut bench);
    for round in 0..20_u8 {
        while bench.hear() != Heard::Flushed(long) {}
        feed(&mut bench);
        peer.write_all(&[round]).expect("connected");
        let mut before = 0;
        loop {
            match bench.hear() {
                Heard::Received(conn, bytes) => break assert_eq!((conn, bytes), (quiet, vec![round])),
                Heard::Flushed(_) => feed(&mut bench),
                other => panic!("heard {other:?}"),
            }
            before += 1;
            assert!(before < BUSY_MAX, "{before} flushes came first");
        }
    }
    bench.driver.close(long, wavetank_plan::Close::Rst);
    bench.out();
    swallow.join().expect("the reader ends with the connection");
}
