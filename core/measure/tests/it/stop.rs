//! Stop conditions and hopeless runs: at which second they are noticed, if at all.

use crate::common;

use common::{Second, condition, plan, with_warmup};
use wavetank_measure::{DropReason, ErrorClass, Ledger, UnresponsiveDetector};
use wavetank_units::Nanos;

/// Checks the second at which `text` fires at the seal.
fn check(text: &str, seconds: impl IntoIterator<Item = Second>, fires_at: Option<i64>) {
    let mut plan = plan(20);
    plan.stop = vec![condition(text)];
    let mut book = Ledger::new(&plan);
    for second in seconds {
        let _ = book.add(&second.seal());
    }
    let fired = book.stop_fired();
    assert_eq!(fired, fires_at.map(|at| (text, Nanos::from_secs(at))), "{text}");
    let result = book.stop_result();
    assert_eq!(
        result.map(|result| (result.expr, result.ok)),
        fires_at.map(|_| (text.to_owned(), Some(false)))
    );
}

fn failing_from(bad: i64) -> impl Iterator<Item = Second> {
    (0..20).map(move |at| {
        let second = Second::at(at).done(40, 5);
        if at >= bad { second.failed(60, ErrorClass::Reset, 5) } else { second.done(60, 5) }
    })
}

#[test]
fn a_stop_fires_on_the_first_window_that_is_true() {
    check("failed > 50% for 3s", failing_from(10), Some(13));
    check("failed > 50% for 3s", failing_from(0), Some(3));
    check("failed > 50% for 3s", failing_from(18), None);
    check("failed > 60% for 1s", failing_from(0), None);
    // Without a window: over the run so far.
    check("failed > 20%", failing_from(10), Some(16));
    check("errors(reset) >= 120", failing_from(10), Some(12));
}

#[test]
fn an_uncertain_percentile_stops_nothing_unless_the_minimum_settles_it() {
    let mixed = |slow| (0..20).map(move |at| Second::at(at).done(100 - slow, 2).done(slow, 100));
    // Two samples of two hundred are above p99, so four above the limit may be chance.
    check("p99 > 50ms for 2s", mixed(2), None);
    check("p99 > 1ms for 2s", mixed(2), Some(2));
    check("p99 > 50ms for 2s", mixed(50), Some(2));
    let mixed = || mixed(50);
    check("p90 > 50ms for 2s", mixed(), Some(2));
}

#[test]
fn a_gauge_must_be_true_in_every_second_of_the_window() {
    let users = |values: &'static [u64]| {
        (0_i64..).zip(values).map(|(at, &users)| Second::at(at).with(move |interval| interval.users = users))
    };
    check("users > 5", users(&[1, 2, 6, 1]), Some(3));
    check("users > 5 for 3s", users(&[6, 6, 1, 6, 6, 1]), None);
    check("users > 5 for 3s", users(&[6, 6, 1, 6, 6, 6]), Some(6));
}

#[test]
fn dropped_requests_wait_for_ever() {
    let dropping =
        |n| (0..20).map(move |at| Second::at(at).done(1000 - n, 5).dropped(n, DropReason::MaxOpen));
    check("p99 > 1s for 2s", dropping(10), None);
    check("p99 > 1s for 2s", dropping(11), Some(2));
}

#[test]
fn the_drain_stops_nothing() {
    let drain = (20..30).map(|at| {
        Second::at(at).with(|interval| {
            interval.step_mut(common::KEY).counters.errors[ErrorClass::RequestTimeout as usize] = 1;
        })
    });
    check("failed > 50% for 3s", failing_from(20).chain(drain), None);
}

/// Returns the class and the seal at which a run is found hopeless.
fn hopeless(seconds: impl IntoIterator<Item = Second>) -> Option<(ErrorClass, i64)> {
    let mut book = Ledger::new(&plan(20));
    seconds.into_iter().map(Second::seal).find_map(|interval| {
        let _ = book.add(&interval);
        book.hopeless().map(|class| (class, interval.end().0 / 1_000_000_000))
    })
}

fn refused(n: u64) -> impl Iterator<Item = Second> {
    (0..20).map(move |at| Second::at(at).failed(n, ErrorClass::ConnectRefused, 1))
}

#[test]
fn nothing_done_and_everything_failed_alike_is_hopeless_after_five_seconds() {
    assert_eq!(hopeless(refused(10)), Some((ErrorClass::ConnectRefused, 5)));
    let one_done = refused(10).map(|second| second.done(1, 5));
    assert_eq!(hopeless(one_done), None);
    let two_classes = refused(10).map(|second| second.failed(1, ErrorClass::Reset, 5));
    assert_eq!(hopeless(two_classes), None);
    // One request of the first second is still unanswered.
    let waiting = [Second::at(0).failed(10, ErrorClass::ConnectRefused, 1).open(1)];
    assert_eq!(
        hopeless(waiting.into_iter().chain((1..20).map(|at| Second::at(at).failed(0, ErrorClass::Reset, 1)))),
        None
    );
    // The newest requests may be open: they started within the last second.
    let young = (0..5).map(|at| {
        let second = Second::at(at).failed(10, ErrorClass::ConnectRefused, 1);
        if at == 4 { second.open(3) } else { second }
    });
    assert_eq!(hopeless(young), Some((ErrorClass::ConnectRefused, 5)));
    // Connect timeouts occur after more than five seconds, and make the run hopeless then.
    let silent = (0..20).map(|at| match at {
        0..5 => Second::at(at).open(10),
        _ => Second::at(at).open(10).with(|interval| {
            interval.step_mut(common::KEY).counters.errors[ErrorClass::ConnectTimeout as usize] = 10;
        }),
    });
    assert_eq!(hopeless(silent), None, "of those begun a second ago not all have failed");
    assert_eq!(hopeless([]), None);
}

#[test]
fn the_first_five_seconds_are_those_of_the_warmup() {
    let plan = with_warmup(plan(20), 10);
    let mut book = Ledger::new(&plan);
    for at in -10..-5 {
        assert_eq!(book.hopeless(), None);
        let _ = book.add(&Second::at(at).failed(5, ErrorClass::NoFiles, 1).seal());
    }
    assert_eq!(book.hopeless(), Some(ErrorClass::NoFiles));
    assert_eq!(book.only_class(), Some(ErrorClass::NoFiles));
}

/// Returns the seal at which the target has been silent for too long under `threshold`, and for how
/// long, in seconds.
fn silent(threshold: &str, seconds: impl IntoIterator<Item = Second>) -> Option<(i64, i64)> {
    let mut plan = plan(20);
    plan.thresholds = vec![condition(threshold)];
    let mut silence = UnresponsiveDetector::for_plan(&plan)?;
    let whole = |length: Nanos| length.0 / Nanos::SECOND.0;
    seconds.into_iter().map(Second::seal).find_map(|interval| {
        silence.add(&interval);
        silence.exceeded_for().map(|lasted| (whole(interval.end()), whole(lasted)))
    })
}

/// `n` requests sent in each of the first two seconds, and nothing after that.
fn unanswered(n: u64) -> impl Iterator<Item = Second> {
    (0..30).map(move |at| {
        let second = Second::at(at).open(if at < 2 { n } else { 0 });
        second.with(|interval| {
            interval.steps.iter_mut().for_each(|step| step.counters.sent = step.counters.offered);
        })
    })
}

#[test]
fn who_answers_nothing_is_not_waited_for() {
    assert_eq!(silent("p99 < 50ms", unanswered(10)), Some((6, 5)));
    assert_eq!(silent("p99 < 4s", unanswered(10)), Some((9, 8)), "twice as long as it may take");
    assert_eq!(silent("failed < 1%", unanswered(10)), None, "nothing says how long it may take");
    assert_eq!(silent("p99(buy) < 50ms", unanswered(10)), None, "other steps may be slow by right");
    assert_eq!(silent("p99(connect) < 50ms", unanswered(10)), None, "a connection is no answer");
    assert_eq!(silent("p99 < 50ms", unanswered(0)), None, "nothing was asked");
    let once = |spoken: fn(Second) -> Second, when: i64| {
        (0..).zip(unanswered(10)).map(move |(at, second)| if at == when { spoken(second) } else { second })
    };
    assert_eq!(silent("p99 < 50ms", once(|second| second.answered(1, 900), 3)), None, "it spoke");
    let failed = |second: Second| second.failed(1, ErrorClass::Reset, 5);
    assert_eq!(silent("p99 < 50ms", once(failed, 3)), None, "that is an answer, too");
}
