//! Stall detection: each condition is tested on both sides of its boundary.

use crate::common;

use common::{KEY, Second, closed, plan, with_warmup};
use wavetank_measure::{DropReason, ErrorClass, Interval, Ledger, Stalls};
use wavetank_plan::Plan;
use wavetank_units::Nanos;

/// Seconds of 100 responses each until 5 s; the last of them leaves 50 requests open. Then two
/// seconds in which nothing ends and 100 more are offered each, then responses again.
fn seconds() -> Vec<Interval> {
    let answered = |at| Second::at(at).done(100, 5).seal();
    let mut seconds: Vec<_> = (0..10).map(answered).collect();
    seconds[4] = Second::at(4).done(50, 5).open(50).seal();
    seconds[5] = waiting(5, 100, 150);
    seconds[6] = waiting(6, 100, 250);
    seconds[7] = Second::at(7).answered(250, 2_000).done(100, 5).seal();
    seconds
}

/// A second in which nothing ends, with this many offered, and this many open at its end.
fn waiting(at: i64, offered: u64, open: u64) -> Interval {
    Second::at(at).open(open).with(|interval| interval.step_mut(KEY).counters.offered = offered).seal()
}

fn book(plan: &Plan, seconds: &[Interval]) -> Ledger {
    let mut book = Ledger::new(plan);
    for second in seconds {
        drop(book.add(second));
    }
    book
}

/// Begin and length of the longest in milliseconds, and how many were open.
fn longest(found: Stalls) -> Option<(i64, i64, u64)> {
    let Stalls { longest, .. } = found;
    (found.count > 0).then_some((longest.from.0 / 1_000_000, longest.len.0 / 1_000_000, longest.open))
}

#[track_caller]
fn check_run(plan: &Plan, seconds: &[Interval], expected: Option<(i64, i64, u64)>) {
    assert_eq!(longest(book(plan, seconds).standstills()), expected);
}

/// The run of [`seconds`] with a change.
#[track_caller]
fn check(change: impl FnOnce(&mut Vec<Interval>), expected: Option<(i64, i64, u64)>) {
    let mut seconds = seconds();
    change(&mut seconds);
    check_run(&plan(10), &seconds, expected);
}

const TWO_SECONDS: Option<(i64, i64, u64)> = Some((5_000, 2_000, 250));
const THE_SECOND: Option<(i64, i64, u64)> = Some((6_000, 1_000, 250));
const THE_FIRST: Option<(i64, i64, u64)> = Some((5_000, 1_000, 150));

#[test]
fn silence_with_requests_open_is_found() {
    check(|_| (), TWO_SECONDS);
    let found = book(&plan(10), &seconds()).standstills();
    assert_eq!((found.count, found.total), (1, Nanos::from_secs(2)));
    assert_eq!((found.ended, found.window, found.usual_per_s()), (1_000, Nanos::from_secs(10), 125.0));
    // The run is still in it.
    check_run(&plan(10), &seconds()[..7], TWO_SECONDS);
    check_run(&plan(10), &seconds()[..5], None);
}

#[test]
fn whatever_ends_ends_it() {
    let ended = |at: usize, ended: fn(Second) -> Second| {
        move |seconds: &mut Vec<Interval>| {
            let open = seconds[at].steps[0].open;
            seconds[at] = ended(Second::at(at as i64).open(open)).seal();
        }
    };
    check(ended(6, |second| second.answered(1, 1_500)), THE_FIRST);
    check(ended(6, |second| second.failed(1, ErrorClass::RequestTimeout, 1_500)), THE_FIRST);
    check(ended(5, |second| second.answered(1, 500)), THE_SECOND);
    // A response in the warm-up counts as well.
    let warm = with_warmup(plan(10), 1);
    let judged = |mut seconds: Vec<Interval>| {
        for second in &mut seconds {
            second.steps[0].key.phase = 1;
        }
        seconds
    };
    check_run(&warm, &judged(seconds()), TWO_SECONDS);
    let mut seconds = judged(seconds());
    seconds[6].step_mut(KEY).counters.done = 1;
    check_run(&warm, &seconds, THE_FIRST);
}

#[test]
fn requests_are_open_from_begin_to_end() {
    // The first of them arrived during the fifth second.
    check(|seconds| seconds[4] = Second::at(4).done(100, 5).seal(), THE_SECOND);
    check(|seconds| seconds[5] = waiting(5, 0, 0), None);
}

#[test]
fn ten_requests_wait_and_fewer_prove_nothing() {
    let one_second = |open: u64| {
        move |seconds: &mut Vec<Interval>| {
            seconds[4] = Second::at(4).done(100, 5).open(open).seal();
            seconds[5] = waiting(5, 100, open + 100);
            seconds[6] = Second::at(6).answered(open + 100, 900).seal();
        }
    };
    check(one_second(9), None);
    check(one_second(10), Some((5_000, 1_000, 110)));
    // Requests of the first second waited through the second one; requests of the last may have
    // come at its end.
    let slowly = |offered: u64| {
        move |seconds: &mut Vec<Interval>| {
            seconds[4] = Second::at(4).done(100, 5).open(1).seal();
            seconds[5] = waiting(5, offered, 1 + offered);
            seconds[6] = waiting(6, offered, 1 + 2 * offered);
        }
    };
    check(slowly(8), None);
    check(slowly(9), Some((5_000, 2_000, 19)));
}

#[test]
fn silence_is_three_times_as_long_as_answers_usually_take() {
    // By Little's law: open requests divided by those that end each second.
    let usual = |open: u64| {
        move |seconds: &mut Vec<Interval>| {
            for second in &mut seconds[..5] {
                *second = Second::at(second.from.0 / 1_000_000_000).done(100, 5).open(open).seal();
            }
        }
    };
    check(usual(66), TWO_SECONDS);
    check(usual(67), None);
}

#[test]
fn how_long_answers_take_is_known_from_twenty_on() {
    let before = |first: u64| {
        move |seconds: &mut Vec<Interval>| {
            for (at, second) in (0..).zip(&mut seconds[..5]) {
                *second = Second::at(at).done(if at == 0 { first } else { 5 }, 5).seal();
            }
            seconds[4].step_mut(KEY).open = 10;
        }
    };
    // The second before it may be one in which it began.
    check(before(4), None);
    check(before(5), TWO_SECONDS);
    // Requests of another step prove nothing: this step may legitimately be slow.
    let other = |seconds: &mut Vec<Interval>| {
        for second in &mut seconds[..5] {
            let open = std::mem::take(&mut second.steps[0].open);
            second.steps[0].key.step = 1;
            second.step_mut(KEY).open = open;
        }
    };
    check(other, None);
}

#[test]
fn a_load_that_is_over_leaves_its_slowest_behind() {
    let off = |seconds: &mut Vec<Interval>| (seconds[5], seconds[6]) = (waiting(5, 0, 50), waiting(6, 0, 50));
    check(off, None);
    let dropped = |reason: DropReason| {
        move |seconds: &mut Vec<Interval>| {
            seconds[5] = Second::at(5).dropped(100, reason).with(|it| it.step_mut(KEY).open = 50).seal();
            seconds[6] = waiting(6, 0, 50);
        }
    };
    check(dropped(DropReason::Behind), None);
    // The load continued, and the maximum number of requests that the plan allows was waiting.
    check(dropped(DropReason::MaxOpen), Some((5_000, 1_000, 50)));
}

#[test]
fn users_who_all_wait_ask_for_no_more() {
    let check = |users: u64, earlier: u64, open: u64, expected: bool| {
        let mut seconds = seconds();
        (seconds[5], seconds[6]) = (waiting(5, 0, open), waiting(6, 0, open));
        seconds[4].step_mut(KEY).open = open;
        for second in &mut seconds {
            second.users = users;
        }
        seconds[1].users = earlier;
        let found = longest(book(&closed(plan(10)), &seconds).standstills());
        let wanted = expected.then_some((5_000, 2_000, open));
        assert_eq!(found, wanted, "{open} open of {users} users, once {earlier}");
        check_run(&plan(10), &seconds, None);
    };
    check(50, 50, 50, true);
    check(50, 50, 45, true);
    check(50, 50, 44, false);
    // The others have left, and these may be the slow ones.
    check(50, 100, 50, true);
    check(50, 101, 50, false);
}

#[test]
fn a_generator_that_did_not_look_proves_nothing() {
    type Change = fn(&mut wavetank_measure::ThreadStats);
    let at = |second: usize, change: Change| {
        move |seconds: &mut Vec<Interval>| change(&mut seconds[second].threads[0])
    };
    check(at(6, |health| health.busy_ns = 949_000_000), TWO_SECONDS);
    check(at(6, |health| health.busy_ns = 950_000_000), THE_FIRST);
    check(at(6, |health| health.starved_turns = 1), THE_FIRST);
    check(at(5, |health| health.starved_turns = 1), THE_SECOND);
    // After a long turn within the silence the thread looked again. A turn at its end or right
    // after it may have delayed the response.
    check(at(5, |health| health.turn_ns_max = 99_000_000), TWO_SECONDS);
    check(at(6, |health| health.turn_ns_max = 9_999_999), TWO_SECONDS);
    check(at(6, |health| health.turn_ns_max = 10_000_000), Some((5_000, 1_990, 250)));
    check(at(7, |health| health.turn_ns_max = 50_000_000), Some((5_000, 1_950, 250)));
    check(at(7, |health| health.turn_ns_max = 1_100_000_000), Some((5_000, 900, 250)));
    check(at(7, |health| health.turn_ns_max = 1_101_000_000), None);
    // The process was stopped. It reports the long turn in the second in which it was stopped, or
    // in the one in which it resumed.
    check(at(5, |health| health.turn_ns_max = 1_500_000_000), None);
    check(at(4, |health| health.turn_ns_max = 1_500_000_000), None);
    check(at(3, |health| health.turn_ns_max = 900_000_000), TWO_SECONDS);
    check(at(7, |health| health.turn_ns_max = u64::MAX), None);
}

#[test]
fn only_the_judged_load_without_a_gap_counts() {
    // Requests still open after the load may be the slowest.
    check_run(&plan(7), &seconds(), TWO_SECONDS);
    check_run(&plan(6), &seconds(), THE_FIRST);
    check_run(&plan(5), &seconds(), None);
    check(|seconds| drop(seconds.remove(5)), None);
    let mut gaps = book(&plan(10), &seconds());
    gaps.mark_incomplete();
    assert_eq!(gaps.standstills(), Stalls::default());
    // A phase that was over within a second leaves too short a rest.
    let short = |millis: i64| {
        move |seconds: &mut Vec<Interval>| {
            seconds.truncate(6);
            seconds[5].len = Nanos::from_millis(millis);
        }
    };
    check(short(899), None);
    check(short(900), Some((5_000, 900, 150)));
}

#[test]
fn a_target_that_answers_in_bursts_is_not_stalled() {
    // A hundred users in step, answered every five seconds.
    let second = |at: i64| {
        let mut second = waiting(at, 0, 100);
        (second.users, second.step_mut(KEY).counters.offered) = (100, if at == 0 { 100 } else { 0 });
        if at % 5 == 4 {
            second.step_mut(KEY).counters.done = 100;
            second.step_mut(KEY).counters.offered += 100;
        }
        second
    };
    let seconds: Vec<_> = (0..60).map(second).collect();
    check_run(&closed(plan(60)), &seconds, None);
}

#[test]
fn each_of_several_is_counted() {
    let mut all = Vec::new();
    for round in 0..3 {
        for mut second in seconds() {
            second.from = second.from.after(Nanos::from_secs(10 * round));
            all.push(second);
        }
    }
    all.truncate(27);
    let found = book(&plan(30), &all).standstills();
    assert_eq!((found.count, found.total), (3, Nanos::from_secs(6)));
    assert_eq!(longest(found), TWO_SECONDS, "of several as long, the first");
}
