//! Waiting, and being woken.

use std::thread;

use wavetank_driver::{Driver, fine_timers};
use wavetank_units::Nanos;

use super::bench::{Bench, Heard, PATIENCE};

pub(crate) fn wakes<D: Driver>() {
    let mut bench = Bench::<D>::new();
    let waker = bench.driver.waker().expect("a waker");
    for _ in 0..20 {
        let waker = waker.clone();
        let other = thread::spawn(move || waker.wake());
        assert_eq!(bench.hear(), Heard::Woken);
        other.join().expect("it only rings");
    }
    bench.hear_nothing();
}

pub(crate) fn merges_rings<D: Driver>() {
    let mut bench = Bench::<D>::new();
    let waker = bench.driver.waker().expect("a waker");
    for _ in 0..100 {
        waker.wake();
    }
    assert_eq!(bench.hear(), Heard::Woken);
    bench.hear_nothing();
}

pub(crate) fn never_wakes_early<D: Driver>() {
    let mut bench = Bench::<D>::new();
    fine_timers();
    let mut late: Vec<u64> = Vec::new();
    for step in 0..60 {
        let until = bench.clock.now().after(Nanos::from_micros(50 + 37 * step));
        let ready = bench.driver.wait(until).expect("waiting works");
        let now = bench.clock.now();
        assert!(!ready, "nothing can be ready");
        assert!(now >= until, "{} ns early", until.since(now));
        late.push(now.since(until));
    }
    late.sort_unstable();
    // A wide limit, for busy machines: it detects waits that are rounded up to milliseconds.
    assert!(late[10] < 900_000, "late by {late:?} ns");
}

pub(crate) fn does_not_wait_for_the_past<D: Driver>() {
    let mut bench = Bench::<D>::new();
    let start = bench.clock.now();
    for until in [Nanos(-5), Nanos::ZERO, Nanos(i64::MIN), start] {
        assert_eq!(bench.driver.wait(until), Ok(false));
    }
    assert!(bench.clock.now().since(start) < PATIENCE.0.unsigned_abs());
    // The wait also ends if there is an event already.
    bench.driver.waker().expect("a waker").wake();
    assert_eq!(bench.driver.wait(Nanos::MAX), Ok(true));
    assert_eq!(bench.hear(), Heard::Woken);
}
