//! Conditions over sealed seconds: values, windows, undecided ones, stops.

use crate::common;

use common::{KEY, Second, closed, condition, phase, plan, with_warmup};
use wavetank_measure::{DropReason, ErrorClass, Ledger, ThresholdResult};
use wavetank_plan::Plan;
use wavetank_units::Nanos;

const MS: f64 = 1e6;

/// A plan with one threshold.
fn asking(mut plan: Plan, text: &str) -> Plan {
    plan.thresholds = vec![condition(text)];
    plan
}

fn judged(plan: &Plan, seconds: impl IntoIterator<Item = Second>) -> ThresholdResult {
    let mut book = Ledger::new(plan);
    for second in seconds {
        let second = second.seal();
        let _ = book.add(&second);
    }
    book.results().remove(0)
}

/// Checks the result of `text` over `seconds` of a ten-second run.
fn check(text: &str, seconds: impl IntoIterator<Item = Second>, ok: Option<bool>, value: Option<f64>) {
    let result = judged(&asking(plan(10), text), seconds);
    assert_eq!(result.ok, ok, "{result:?}");
    match (result.value, value) {
        // Buckets are 0.8 % wide.
        (Some(found), Some(expected)) => {
            assert!((found - expected).abs() <= 0.008 * expected.abs() + 1e-9, "{result:?}");
        }
        (found, expected) => assert_eq!(found, expected, "{result:?}"),
    }
    assert_eq!(
        result.why.is_some(),
        ok.is_none() || value.is_none(),
        "why goes with what cannot be seen: {result:?}"
    );
    assert_eq!(result.expr, text);
}

fn run(n: u64, ms: u64) -> impl Iterator<Item = Second> {
    (0..10).map(move |at| Second::at(at).done(n, ms))
}

#[test]
fn times_over_the_whole_run() {
    check("p99 < 250ms", run(200, 20), Some(true), Some(20.0 * MS));
    check("p99 < 20ms", run(200, 20), Some(false), Some(20.0 * MS));
    check("p99 <= 20ms", run(200, 20), Some(true), Some(20.0 * MS));
    check("p99 > 19ms", run(200, 20), Some(true), Some(20.0 * MS));
    check("mean < 15ms", run(100, 10).chain([Second::at(10).done(1000, 30)]), Some(false), Some(20.0 * MS));
    check("max < 30ms", run(100, 10).chain([Second::at(10).done(1, 30)]), Some(false), Some(30.0 * MS));
    check("min >= 10ms", run(100, 10), Some(true), Some(10.0 * MS));
    check("p99(service) < 15ms", run(200, 20), Some(false), Some(20.0 * MS));
    check("p99(lag) < 1ms", run(200, 20), Some(true), Some(0.0));
    check("p99(connect) < 1ms", run(200, 20), None, None);
    let connects = (0..10)
        .map(|at| Second::at(at).with(|interval| interval.target_mut(0, 0).connect.record_n(2_000_000, 200)));
    check("p99(connect) < 1ms", connects, Some(false), Some(2.0 * MS));
    let failures = (0..10).map(|at| Second::at(at).failed(200, ErrorClass::Reset, 40));
    check("p99(failed) < 1s", failures, Some(true), Some(40.0 * MS));
}

#[test]
fn a_slow_answer_in_the_drain_is_judged_with_the_run() {
    let drained = || run(200, 5).chain([Second::at(10).answered(60, 4000)]);
    check("p99 < 250ms", drained(), Some(false), Some(4000.0 * MS));
    // Also in the last window, although it had already ended.
    check("p99 < 250ms for 5s", drained(), Some(false), Some(4000.0 * MS));
    check("p99 < 250ms for 10s", drained(), Some(false), Some(4000.0 * MS));
}

#[test]
fn percentiles_that_dropped_requests_reach_into_are_unknown() {
    // 100 of 10,000 offered: exactly 1 % leaves p99 known, one more does not.
    let dropping =
        |n| run(1000, 5).take(9).chain([Second::at(9).done(1000 - n, 5).dropped(n, DropReason::MaxOpen)]);
    check("p99 < 250ms", dropping(100), Some(true), Some(5.0 * MS));
    check("p99 < 250ms", dropping(101), Some(false), None);
    check("p99 <= 250ms", dropping(101), Some(false), None);
    check("p99 > 1ms", dropping(101), Some(true), None);
    check("p95 < 250ms", dropping(101), Some(true), Some(5.0 * MS));
    check("p99(service) < 250ms", dropping(101), Some(true), Some(5.0 * MS));
    check("max < 250ms", dropping(1), Some(false), None);
    check("mean < 250ms", dropping(101), Some(true), Some(5.0 * MS));
}

#[test]
fn uncertain_percentiles_are_settled_by_minimum_or_maximum_or_not_at_all() {
    let few = || (0..10).map(|at| Second::at(at).done(9, 10).done(1, 100));
    // 100 samples: one is above p99.
    check("p99 < 250ms", few(), Some(true), Some(100.0 * MS));
    check("p99 < 5ms", few(), Some(false), Some(100.0 * MS));
    // Ten of 100 above the limit are far more than one in a hundred.
    check("p99 < 50ms", few(), Some(false), Some(100.0 * MS));
    check("p99 > 5ms", few(), Some(true), Some(100.0 * MS));
    check("p99 > 200ms", few(), Some(false), Some(100.0 * MS));
    check("p99 > 50ms", few(), Some(true), Some(100.0 * MS));
    check("p50 < 50ms", few(), Some(true), Some(10.0 * MS));
    check("p99 < 250ms", [], None, None);
}

#[test]
fn few_samples_decide_what_chance_cannot_explain() {
    let slow = |n: u64, of: u64| [Second::at(0).done(of - n, 10).done(n, 2_200)];
    let limit = 2_200.0 * MS;
    check("p99 < 500ms", slow(4, 8), Some(false), Some(limit));
    check("p99 <= 500ms", slow(4, 8), Some(false), Some(limit));
    check("p99 > 500ms", slow(4, 8), Some(true), Some(limit));
    check("p99.9 < 500ms", slow(30, 300), Some(false), Some(limit));
    check("p50 < 500ms", slow(1, 19), Some(true), Some(10.0 * MS));
    // One or two of them may be chance.
    check("p99 < 500ms", slow(1, 40), None, Some(limit));
    check("p99 < 500ms", slow(2, 40), None, Some(limit));
    check("p50 < 500ms", slow(7, 12), None, Some(limit));
}

#[test]
fn counts_shares_and_rates() {
    let some_failed = || (0..10).map(|at| Second::at(at).done(99, 5).failed(1, ErrorClass::Reset, 5));
    check("failed < 1%", some_failed(), Some(false), Some(0.01));
    check("failed <= 1%", some_failed(), Some(true), Some(0.01));
    check("failed = 10", some_failed(), Some(true), Some(10.0));
    check("failed != 10", some_failed(), Some(false), Some(10.0));
    check("done >= 990", some_failed(), Some(true), Some(990.0));
    check("offered = 1k", some_failed(), Some(true), Some(1000.0));
    check("errors(reset) < 10", some_failed(), Some(false), Some(10.0));
    check("errors(closed_early) = 0", some_failed(), Some(true), Some(0.0));
    check("status(200) = 990", some_failed(), Some(true), Some(990.0));
    check("status(200) > 99%", some_failed(), Some(false), Some(0.99));
    check("done_rate > 98/s", some_failed(), Some(true), Some(99.0));
    check("failed_rate < 1/s", some_failed(), Some(false), Some(1.0));
    check("dropped = 0", some_failed(), Some(true), Some(0.0));
    check("failed < 1%", [], Some(true), Some(0.0));
    check("done > 99%", [], None, None);
    check("done_rate > 1/s", [], None, None);
}

#[test]
fn rates_know_no_drain() {
    let drained = || run(100, 5).chain([Second::at(10).answered(500, 1000)]);
    check("done_rate <= 100/s", drained(), Some(true), Some(100.0));
    check("done_rate <= 100/s for 2s", drained(), Some(true), Some(100.0));
    check("done = 1500", drained(), Some(true), Some(1500.0));
}

#[test]
fn errors_of_the_generators_classes_count_drops_for_the_same_reason() {
    let second = || [Second::at(0).failed(2, ErrorClass::NoFiles, 1).dropped(3, DropReason::NoFiles)];
    check("errors(no_files) = 0", second(), Some(false), Some(5.0));
    let other = || {
        [Second::at(0).done(9, 1).failed(2, ErrorClass::NoSourceAddress, 1).dropped(3, DropReason::NoFiles)]
    };
    check("errors(no_source_address) < 3", other(), Some(true), Some(2.0));
}

#[test]
fn a_threshold_must_hold_in_every_window() {
    let one_bad = |bad: i64| {
        (0..10).map(move |at| {
            if at == bad {
                Second::at(at).failed(100, ErrorClass::Reset, 5)
            } else {
                Second::at(at).done(100, 5)
            }
        })
    };
    check("failed < 60%", one_bad(4), Some(true), Some(0.1));
    check("failed < 60% for 2s", one_bad(4), Some(true), Some(0.5));
    check("failed < 50% for 2s", one_bad(4), Some(false), Some(0.5));
    check("failed < 60% for 1s", one_bad(4), Some(false), Some(1.0));
    check("failed < 60% for 1s", one_bad(0), Some(false), Some(1.0));
    check("failed < 60% for 1s", one_bad(9), Some(false), Some(1.0));
    check("done_rate >= 100/s for 1s", one_bad(9), Some(false), Some(0.0));
    check("done_rate >= 50/s for 2s", one_bad(9), Some(true), Some(50.0));
    // No window of that length fits into ten seconds.
    check("failed < 60% for 11s", one_bad(4), None, None);
    let result = judged(&asking(plan(10), "failed < 60% for 1s"), one_bad(4));
    assert_eq!(result.at, Some(Nanos::from_secs(4)), "the worst window is named");
}

#[test]
fn a_window_forgets_times_exactly() {
    let shrinking = || (0..10).map(|at| Second::at(at).done(2000, 100 - 10 * at as u64));
    check("p99 <= 101ms for 3s", shrinking(), Some(true), Some(100.0 * MS));
    check("p50 > 21ms for 3s", shrinking(), Some(false), Some(20.0 * MS));
    check("min > 10ms for 1s", shrinking(), Some(false), Some(10.0 * MS));
    check("max > 30ms for 3s", shrinking(), Some(false), Some(30.0 * MS));
}

#[test]
fn windows_of_a_share_divide_by_what_was_resolved_in_them() {
    // 100 offered in second 3, of which 50 fail in second 4: no offered in that one.
    let seconds = || {
        [
            Second::at(3).open(100),
            Second::at(4).with(|interval| {
                let step = interval.step_mut(KEY);
                step.counters.errors[ErrorClass::Reset as usize] = 50;
                step.counters.done = 50;
                step.counters.sent = 100;
            }),
        ]
    };
    check("failed < 60% for 1s", seconds(), Some(true), Some(0.5));
    check("failed < 50% for 1s", seconds(), Some(false), Some(0.5));
}

#[test]
fn gauges_take_the_worst_second() {
    let held = |values: [u64; 4]| {
        (0_i64..).zip(values).map(|(at, held)| {
            Second::at(at).open(held).with(move |interval| {
                interval.conns.open = held;
                interval.users = held;
            })
        })
    };
    check("held >= 98", held([100, 98, 99, 100]), Some(true), Some(98.0));
    check("held >= 99", held([100, 98, 99, 100]), Some(false), Some(98.0));
    check("users <= 100", held([100, 98, 99, 100]), Some(true), Some(100.0));
    check("in_flight < 100", held([100, 98, 99, 100]), Some(false), Some(100.0));
    check("held = 100", held([100, 100, 100, 100]), Some(true), Some(100.0));
    check("held = 100", held([100, 100, 99, 100]), Some(false), Some(99.0));
    check("held != 99", held([100, 100, 99, 100]), Some(false), Some(99.0));
    check("held >= 98 for 2s", held([100, 98, 99, 100]), Some(true), Some(98.0));
    check("held >= 98", [], None, None);
    // Connections outside the measured time do not count.
    check("held >= 98", held([100, 98, 99, 100]).chain([Second::at(10)]), Some(true), Some(98.0));
}

#[test]
fn connections() {
    let opening = |lost| {
        [
            Second::at(-1).with(|interval| {
                interval.conns.offered = 100;
                interval.conns.opened = 99;
                interval.conns.failed = 1;
            }),
            Second::at(0).with(move |interval| interval.conns.lost = lost),
            Second::at(10).with(|interval| interval.conns.lost = 30),
        ]
    };
    check("opened >= 99", opening(0), Some(true), Some(99.0));
    check("connections failed < 1%", opening(0), Some(false), Some(0.01));
    check("opened > 0 in main", opening(0), Some(true), Some(99.0));
    check("lost = 0", opening(0), Some(true), Some(0.0));
    check("lost = 0", opening(2), Some(false), Some(2.0));
    let result = judged(&asking(closed(plan(10)), "lost < 4%"), opening(2));
    assert_eq!((result.ok, result.value), (Some(false), Some(0.04)), "of the 50 planned: {result:?}");
}

#[test]
fn a_condition_in_a_phase_sees_its_keys_and_its_time() {
    let mut two = plan(2);
    two.phases.push(phase("next", 2, 2));
    let seconds = || {
        [
            Second::at(0).done(100, 5).with(|interval| interval.users = 1),
            Second::at(1).done(100, 5).open(50).with(|interval| interval.users = 2),
            Second::at(2).answered(50, 900).phase(1).done(200, 50).with(|interval| interval.users = 3),
            Second::at(3).phase(1).done(200, 50).with(|interval| interval.users = 4),
        ]
    };
    let check = |text: &str, value: f64| {
        let result = judged(&asking(two.clone(), text), seconds());
        let found = result.value.unwrap_or(f64::NAN);
        assert!((found - value).abs() <= 0.008 * value, "{result:?}");
    };
    check("done > 0 in main", 250.0);
    check("done_rate > 0/s in main", 100.0);
    check("done_rate > 0/s in next", 200.0);
    check("done_rate > 0/s", 650.0 / 4.0);
    check("max < 1h in main", 900.0 * MS);
    check("max < 1h in next", 50.0 * MS);
    check("users <= 100 in main", 2.0);
    check("users >= 0 in next", 3.0);
}

#[test]
fn warmup_is_judged_by_nothing() {
    let plan = with_warmup(plan(10), 2);
    let seconds =
        || [Second::at(-1).phase(0).failed(100, ErrorClass::Reset, 5), Second::at(0).phase(1).done(100, 5)];
    let result = judged(&asking(plan.clone(), "failed = 0"), seconds());
    assert_eq!((result.ok, result.value), (Some(true), Some(0.0)));
    let mut stopping = plan;
    stopping.stop = vec![condition("failed > 10%")];
    let mut book = Ledger::new(&stopping);
    for second in seconds() {
        let _ = book.add(&second.seal());
    }
    assert_eq!(book.stop_fired(), None);
}

#[test]
fn implicit_thresholds_stand_after_the_users_and_are_flagged() {
    let results = |plan: &Plan| {
        let book = Ledger::new(plan);
        book.results().into_iter().map(|result| (result.expr, result.implicit)).collect::<Vec<_>>()
    };
    let both = [("done > 0".to_owned(), true), ("failed < 1%".to_owned(), true)];
    assert_eq!(results(&plan(10)), both);
    let asked = results(&asking(plan(10), "errors(reset) = 0"));
    assert_eq!(asked, [("errors(reset) = 0".to_owned(), false), both[0].clone()]);
    let mut empty = plan(10);
    empty.scenarios[0].steps.clear();
    let connections = [("opened > 0".to_owned(), true), ("connections failed < 1%".to_owned(), true)];
    assert_eq!(results(&empty), connections);
}
