//! Tests the schedule against simple reference implementations: every arrival, for any division of
//! the work.

use wavetank_pace::{Arrival, ArrivalSource, Partition, Philox, Schedule, ScheduleSpec};
use wavetank_plan::{Arrivals, RateCurve};
use wavetank_units::{Nanos, Rate};

const MINUTE: Nanos = Nanos::from_secs(60);
const HOUR: Nanos = Nanos::from_secs(3_600);

/// Returns a source with a constant rate. It leaks the curve; tests are short, so the lost memory
/// does not matter.
fn line(arrivals: Arrivals, rate: Rate) -> ArrivalSource<'static> {
    ArrivalSource::Rate(Box::leak(Box::new(RateCurve::constant(rate, None))), arrivals)
}

fn spec(arrivals: Arrivals, rate: Rate, end: Nanos) -> ScheduleSpec<'static> {
    ScheduleSpec {
        seed: 42,
        phase: 1,
        start: Nanos(-7),
        end: Some(end),
        line: line(arrivals, rate),
        count_max: None,
        share: Partition::WHOLE,
    }
}

/// Returns the whole list. Changes are made ahead of time, or each when its time has come.
fn list(spec: ScheduleSpec<'_>, changes: &[(Nanos, Rate)], ahead: bool) -> Vec<Arrival> {
    let mut schedule = Schedule::new(spec);
    let mut all = Vec::new();
    if ahead {
        for &(at, rate) in changes {
            schedule.change(at, rate);
        }
    } else {
        for &(at, rate) in changes {
            while schedule.peek().is_some_and(|due| due < at) {
                all.extend(schedule.pop());
            }
            schedule.change(at, rate);
        }
    }
    while let Some(at) = schedule.peek() {
        let arrival = schedule.pop().expect("peek saw it");
        assert_eq!(arrival.at, at);
        all.push(arrival);
    }
    assert_eq!((schedule.peek(), schedule.pop()), (None, None));
    all
}

/// Returns the integral at `at`, in `units` per arrival, by adding up piece after piece.
fn integral(at: i64, start: i64, pieces: &[(Nanos, Rate)], units: i128) -> i128 {
    let ends = pieces.iter().skip(1).map(|piece| piece.0.0).chain([i64::MAX]);
    let grown = pieces.iter().zip(ends).map(|(&(from, rate), end)| {
        let len = i128::from(at.min(end).max(from.0.max(start))) - i128::from(from.0.max(start));
        len * i128::from(rate.count) * (units / i128::from(rate.per.0))
    });
    grown.sum()
}

/// Checks even arrivals one by one: each is at the last nanosecond at which the integral has not
/// passed the index.
fn check_even(rate: Rate, changes: &[(Nanos, Rate)], end: Nanos) {
    let spec = spec(Arrivals::Even, rate, end);
    let found = list(spec, changes, true);
    assert_eq!(found, list(spec, changes, false), "early and late changes differ");
    let pieces: Vec<(Nanos, Rate)> =
        [(spec.start, rate)].into_iter().chain(changes.iter().copied()).collect();
    // A common multiple of every `per` used here.
    let units = i128::from(HOUR.0) * 7;
    let sum = |at: i64| integral(at, spec.start.0, &pieces, units);
    let mut from = spec.start.0;
    for index in 0.. {
        let (mut low, mut high, mut reach) = (from, end.0, 1);
        while from + reach < high {
            if sum(from + reach) > i128::from(index) * units {
                high = from + reach;
            }
            reach *= 2;
        }
        while low < high {
            let middle = low + (high - low + 1) / 2;
            if sum(middle) <= i128::from(index) * units { low = middle } else { high = middle - 1 }
        }
        let expected = (low < end.0).then_some(Arrival { index, at: Nanos(low) });
        assert_eq!(found.get(index as usize), expected.as_ref(), "{rate:?} {changes:?}");
        if expected.is_none() {
            break;
        }
        from = low;
    }
}

#[test]
fn even_arrivals_fall_where_the_integral_reaches_them() {
    let per = |count, per| Rate { count, per };
    check_even(Rate::per_second(1), &[], Nanos::from_secs(100));
    check_even(per(7, MINUTE), &[], HOUR);
    check_even(Rate::per_second(3_333), &[], Nanos::from_secs(10));
    check_even(Rate::per_second(1_000_000), &[], Nanos::from_millis(20));
    check_even(per(1, HOUR), &[], Nanos(HOUR.0 * 40 + 1));
    check_even(Rate::per_second(0), &[], HOUR);
    check_even(per(6, Nanos(14)), &[], Nanos(10_001));
    check_even(
        per(7, MINUTE),
        &[
            (Nanos(12_345_678_901), Rate::per_second(3_333)),
            (Nanos(13_999_999_999), Rate::per_second(0)),
            (Nanos(15_000_000_001), per(11, HOUR)),
            (Nanos(15_000_000_002), Rate::per_second(1_000_000)),
            (Nanos(15_001_000_003), per(1, Nanos(7))),
            (Nanos(15_001_020_009), per(5, MINUTE)),
        ],
        Nanos::from_secs(90),
    );
    // A change before the start, and one to the same rate, which changes nothing.
    check_even(Rate::per_second(0), &[(Nanos::from_secs(-1), Rate::per_second(10))], Nanos::SECOND);
    let plain = list(spec(Arrivals::Even, Rate::per_second(7), HOUR), &[], true);
    let same = [(Nanos(77_777_777_777), Rate::per_second(7)), (Nanos(88_888_888_889), Rate::per_second(7))];
    assert_eq!(plain, list(spec(Arrivals::Even, Rate::per_second(7), HOUR), &same, true));
}

#[test]
fn even_arrivals_stay_exact_for_a_year() {
    let spec = ScheduleSpec {
        end: None,
        start: Nanos::ZERO,
        ..spec(Arrivals::Even, Rate::per_second(999_983), HOUR)
    };
    let far = 999_983 * 86_400 * 365;
    let mut schedule =
        Schedule::new(ScheduleSpec { share: Partition { first: far, width: 2, of: far * 2 }, ..spec });
    assert_eq!(schedule.pop(), Some(Arrival { index: far, at: Nanos::from_secs(86_400 * 365) }));
    assert_eq!(schedule.pop().unwrap().at, Nanos(Nanos::from_secs(86_400 * 365).0 + 1_000));
    // Beyond the end of time there are no arrivals, and no panic.
    let last = Nanos(i64::MAX - 1);
    let mut schedule =
        Schedule::new(ScheduleSpec { line: line(Arrivals::Even, Rate { count: 1, per: last }), ..spec });
    assert_eq!(schedule.pop().unwrap().at, Nanos::ZERO);
    assert_eq!(schedule.pop().unwrap().at, last);
    assert_eq!(schedule.pop(), None);
    schedule.change(Nanos::MAX, Rate { count: u64::MAX, per: Nanos(1) });
    schedule.pop();
}

/// Checks that the list is the same for any number of threads and agents.
fn check_shares(spec: ScheduleSpec<'_>, changes: &[(Nanos, Rate)]) -> usize {
    let whole = list(spec, changes, true);
    assert!(whole.is_sorted() && whole.is_sorted_by_key(|arrival| arrival.at), "{spec:?}");
    assert!(whole.iter().zip(0..).all(|(arrival, index)| arrival.index == index), "{spec:?}");
    assert_eq!(whole, list(spec, changes, false), "{spec:?}: early and late changes differ");
    let agents = [(0, 5), (5, 1), (6, 3)].map(|(first, width)| Partition { first, width, of: 9 });
    for threads in [1, 2, 7] {
        for agents in [&[Partition::WHOLE][..], &agents] {
            let shares = agents.iter().flat_map(|agent| (0..threads).map(|k| agent.split(threads, k)));
            let mut merged: Vec<Arrival> = shares
                .enumerate()
                .flat_map(|(k, share)| list(ScheduleSpec { share, ..spec }, changes, k % 2 == 0))
                .collect();
            merged.sort_by_key(|arrival| arrival.index);
            assert_eq!(merged, whole, "{threads} threads, {} agents, {spec:?} {changes:?}", agents.len());
        }
    }
    whole.len()
}

#[test]
fn any_number_of_threads_and_agents_makes_one_list() {
    let mut arrivals = 0;
    for seed in 0..60 {
        let mut random = Philox::keyed(seed, 77, 0);
        let mut rate = || {
            let count = random.below(4) * random.below(1 << (1 + seed % 12));
            match random.below(4) {
                0 => Rate::per_second(count),
                1 => Rate { count, per: MINUTE },
                2 => Rate { count: count % 20, per: Nanos(1_000_003) },
                _ => Rate { count: count % 100, per: Nanos(9_999_999) },
            }
        };
        let first = rate();
        let rates = [rate(), rate(), rate()];
        let mut at = 0;
        let changes: Vec<(Nanos, Rate)> = rates
            .into_iter()
            .map(|rate| {
                at += 1 + random.below(700_000_000) as i64;
                (Nanos(at), rate)
            })
            .take(seed as usize % 4)
            .collect();
        for arrivals_kind in [Arrivals::Even, Arrivals::Poisson] {
            let count_max = (seed % 5 == 0).then_some(100);
            let spec = ScheduleSpec { seed, count_max, ..spec(arrivals_kind, first, Nanos(1_234_567_891)) };
            arrivals += check_shares(spec, &changes);
        }
    }
    assert!(arrivals > 10_000, "{arrivals} arrivals are no test");
}

#[test]
fn a_later_word_replaces_what_was_planned() {
    for arrivals in [Arrivals::Even, Arrivals::Poisson] {
        let spec = spec(arrivals, Rate::per_second(500), Nanos::from_secs(4));
        let change = |schedule: &mut Schedule, at_ms, rate| {
            schedule.change(Nanos::from_millis(at_ms), Rate::per_second(rate));
        };
        let rest = |mut schedule: Schedule| std::iter::from_fn(move || schedule.pop()).collect::<Vec<_>>();
        let mut replaced = Schedule::new(spec);
        change(&mut replaced, 2_503, 0);
        assert!(replaced.peek().is_some());
        change(&mut replaced, 3_007, 9_000);
        // Looking far ahead over an empty stretch must not settle anything.
        change(&mut replaced, 1, 0);
        while replaced.peek().is_some_and(|at| at < Nanos::from_millis(1)) {
            replaced.pop();
        }
        assert_eq!(replaced.peek(), None);
        change(&mut replaced, 1_001, 700);
        let mut straight = Schedule::new(spec);
        change(&mut straight, 1, 0);
        change(&mut straight, 1_001, 700);
        let (replaced, straight) = (rest(replaced), rest(straight));
        assert!(replaced.len() > 1_000);
        assert!(straight.ends_with(&replaced), "{arrivals:?}");
    }
}

#[test]
fn counts_and_ends_are_half_open() {
    let check = |rate, end, count_max, expected| {
        let spec = ScheduleSpec { count_max, start: Nanos::ZERO, ..spec(Arrivals::Even, rate, end) };
        assert_eq!(list(spec, &[], true).len(), expected, "{spec:?}");
        check_shares(spec, &[]);
    };
    check(Rate::per_second(10), Nanos::SECOND, None, 10);
    check(Rate::per_second(10), Nanos(1_000_000_001), None, 11);
    check(Rate::per_second(3), Nanos::from_secs(10), None, 30);
    check(Rate::per_second(3), Nanos::from_secs(10), Some(7), 7);
    check(Rate::per_second(3), Nanos::from_secs(10), Some(0), 0);
    check(Rate::per_second(3), Nanos::ZERO, None, 0);
    let none = ScheduleSpec {
        share: Partition { first: 0, width: 0, of: 2 },
        ..spec(Arrivals::Poisson, Rate::per_second(100), Nanos::SECOND)
    };
    assert_eq!(list(none, &[], true), []);
}
