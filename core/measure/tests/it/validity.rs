//! Facts about the generator, each with its window.

use crate::common;

use common::{Second, closed, plan, with_warmup};
use wavetank_measure::{DropReason, ErrorClass, Fraction, GeneratorHealth, Ledger};
use wavetank_plan::Plan;
use wavetank_units::Nanos;

fn facts(plan: &Plan, seconds: impl IntoIterator<Item = Second>) -> GeneratorHealth {
    let mut book = Ledger::new(plan);
    seconds.into_iter().for_each(|second| drop(book.add(&second.seal())));
    book.validity()
}

const fn share(count: u64, of: u64) -> Fraction {
    Fraction { count, of }
}

fn seconds(n: i64, special: i64, make: fn(Second) -> Second) -> impl Iterator<Item = Second> {
    (0..n).map(move |at| if at == special { make(Second::at(at)) } else { Second::at(at).done(100, 5) })
}

#[test]
fn the_worst_ten_seconds_are_found_wherever_they_lie() {
    fn check(length: i64, late_at: i64, expected: Fraction) {
        let late = |second: Second| second.done(70, 5).done_lagging(30, 50, 2000);
        let facts = facts(&plan(length), seconds(length, late_at, late));
        assert_eq!(facts.late_worst.share, expected, "late in second {late_at} of {length}");
        assert_eq!(facts.late_seconds, share(1, length as u64));
    }
    check(60, 30, share(30, 1000));
    check(60, 0, share(30, 1000));
    check(60, 59, share(30, 1000));
    check(10, 3, share(30, 1000));
    // Shorter than a window: the whole.
    check(5, 3, share(30, 500));
    check(1, 0, share(30, 100));
    let one = facts(&plan(60), seconds(60, 30, |second| second.done(70, 5).done_lagging(30, 50, 2000)));
    assert_eq!((one.late_worst.from, one.late_worst.len), (Nanos::from_secs(21), Nanos::from_secs(10)));
}

#[test]
fn a_lag_at_the_tolerance_is_not_late() {
    let facts = facts(&plan(10), seconds(10, 3, |second| second.done_lagging(100, 5, 1000)));
    assert_eq!(facts.late_worst.share.count, 0);
}

#[test]
fn reasons_of_the_generator_are_distinguished_from_those_of_the_target() {
    fn check(make: fn(Second) -> Second, dropped: u64, failed: u64) {
        let facts = facts(&plan(20), seconds(20, 7, make));
        assert_eq!(facts.generator_dropped, share(dropped, 2000));
        assert_eq!(facts.generator_failed, share(failed, 2000));
        assert_eq!(facts.generator_open_model, share(dropped + failed, 2000));
        assert_eq!(facts.generator_worst.share, share(dropped + failed, 1000));
    }
    check(|second| second.done(60, 5).dropped(40, DropReason::Behind), 40, 0);
    check(|second| second.done(60, 5).dropped(40, DropReason::NoFiles), 40, 0);
    check(|second| second.done(60, 5).dropped(40, DropReason::NoMemory), 40, 0);
    check(|second| second.done(60, 5).dropped(40, DropReason::NoSourceAddress), 40, 0);
    check(|second| second.done(60, 5).failed(40, ErrorClass::NoFiles, 1), 0, 40);
    check(|second| second.done(60, 5).failed(40, ErrorClass::NoSourceAddress, 1), 0, 40);
    check(|second| second.done(60, 5).failed(40, ErrorClass::ConnectRefused, 1), 0, 0);
    check(|second| second.done(60, 5).dropped(40, DropReason::MaxOpen), 0, 0);
    // The target's own limit, reached because the generator was full.
    check(|second| second.done(60, 5).dropped(40, DropReason::MaxOpen).busy(95), 40, 0);
    check(|second| second.done(60, 5).dropped(40, DropReason::MaxOpen).busy(94), 0, 0);
    // Full in another second than that of the drops.
    let other = (0..20).map(|at| match at {
        7 => Second::at(at).done(60, 5).dropped(40, DropReason::MaxOpen),
        8 => Second::at(at).done(100, 5).busy(100),
        _ => Second::at(at).done(100, 5),
    });
    assert_eq!(facts(&plan(20), other).max_open_while_full, 0);
}

#[test]
fn the_closed_model_has_no_share_of_the_open_one() {
    let facts =
        facts(&closed(plan(20)), seconds(20, 7, |second| second.done(60, 5).dropped(40, DropReason::Behind)));
    assert_eq!((facts.generator_open_model, facts.generator_worst.share.count), (share(0, 0), 0));
    assert_eq!(facts.generator_dropped, share(40, 2000));
}

#[test]
fn warmup_and_drain_are_not_judged() {
    let plan = with_warmup(plan(10), 5);
    let bad = |at: i64, phase| {
        Second::at(at).phase(phase).done_lagging(50, 50, 9000).dropped(50, DropReason::Behind).busy(100)
    };
    let good = (0..10).map(|at| Second::at(at).phase(1).done(100, 5));
    let facts = facts(&plan, [bad(-1, 0)].into_iter().chain(good).chain([bad(10, 0)]));
    assert_eq!((facts.late_worst.share.count, facts.generator_dropped.count), (0, 0));
    assert_eq!((facts.threads[0].full, facts.threads[0].intervals, facts.late_seconds.of), (0, 10, 10));
}

#[test]
fn turns_and_threads_add_up() {
    let facts = facts(
        &plan(20),
        (0..20).map(|at| {
            Second::at(at).done(100, 5).busy(if at < 3 { 95 } else { 94 }).with(|interval| {
                interval.threads[0].stalled_turns = 20;
                interval.threads[0].starved_turns = 5;
                let second = wavetank_measure::ThreadStats { thread: 1, turns: 1000, ..interval.threads[0] };
                interval.threads.push(wavetank_measure::ThreadStats { busy_ns: 0, ..second });
            })
        }),
    );
    assert_eq!((facts.stalled_turns, facts.starved_turns), (share(800, 40_000), share(200, 40_000)));
    let loads: Vec<_> = facts.threads.iter().map(|load| (load.thread, load.full, load.intervals)).collect();
    assert_eq!(loads, [(0, 3, 20), (1, 0, 20)]);
}
