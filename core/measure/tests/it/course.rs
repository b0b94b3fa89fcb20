//! The time series: the same as the totals, in bounded memory, in any order.

use crate::common;

use common::{Second, phase, plan, with_warmup};
use proptest::prelude::*;
use wavetank_measure::{
    DropReason, ErrorClass, Interval, Selection, StepBucket, TimeSeries, TimeSeriesBuilder, Totals,
};
use wavetank_plan::constants::SERIES_MAX;
use wavetank_plan::{Key, Plan};
use wavetank_units::Nanos;

fn course(plan: &Plan, columns_max: usize, intervals: &[Interval]) -> TimeSeries {
    let mut maker = TimeSeriesBuilder::new(plan, columns_max);
    for interval in intervals {
        maker.add(interval);
    }
    maker.finish()
}

/// Checks that the time series equals the totals, as a whole and as the sum of its buckets and of
/// its steps.
fn check(plan: &Plan, columns_max: usize, intervals: &[Interval]) -> TimeSeries {
    let mut totals = Totals::new(plan);
    for interval in intervals {
        totals.add(interval);
    }
    let (whole, course) = (totals.view(Selection::Judged), course(plan, columns_max, intervals));
    let reported = (&course.counters, &course.response, &course.service, &course.lag, &course.wait);
    assert_eq!(reported, (&whole.counters, &whole.response, &whole.service, &whole.lag, &whole.wait));
    assert_eq!(course.censored(), whole.censored());
    assert!(course.columns.len() <= columns_max, "{} columns", course.columns.len());
    let mut parts = wavetank_measure::RequestCounters::default();
    let mut status = wavetank_measure::StatusCounts::default();
    let mut response = wavetank_measure::Histogram::default();
    for column in course.judged() {
        parts.merge(&column.counters);
        status.merge(&column.status);
        response.merge(&column.response);
    }
    status.0.sort_unstable();
    assert_eq!((&parts, &status, &response), (&whole.counters, &whole.status, &whole.response));
    for step in &course.steps {
        let own = totals.view(Selection::Step(step.scenario, step.step));
        assert_eq!((&step.counters, &step.response), (&own.counters, &own.response));
        let sum = |of: fn(&StepBucket) -> u64| step.columns.iter().map(of).sum::<u64>();
        let reported = (sum(|it| it.offered), sum(|it| it.done), sum(|it| it.failed), sum(|it| it.dropped));
        assert_eq!(
            reported,
            (own.counters.offered, own.counters.done, own.counters.failed(), own.counters.dropped())
        );
        assert_eq!(sum(|it| it.samples), own.response.count());
    }
    assert_eq!(course.columns.last().map(|column| column.open), intervals.last().map(|_| whole.open));
    course
}

#[test]
fn what_is_censored_failed_and_dropped_is_there() {
    let seconds = [
        Second::at(0).done(90, 5).failed(10, ErrorClass::Reset, 3),
        Second::at(1)
            .done(50, 8)
            .failed(30, ErrorClass::RequestTimeout, 2000)
            .dropped(20, DropReason::MaxOpen),
        Second::at(2).done(10, 20).open(7),
    ]
    .map(Second::seal);
    let course = check(&plan(3), 100, &seconds);
    let [_, second, third] = &course.columns[..] else {
        panic!("a column a second: {:?}", course.columns.len())
    };
    assert_eq!((second.censored(), second.counters.dropped(), second.counters.failed()), (30, 20, 30));
    assert_eq!((third.from, third.len, third.open), (Nanos::from_secs(2), Nanos::SECOND, 7));
    assert!((third.per_s(third.counters.done) - 10.0).abs() < 1e-9);
    let step = &course.steps[0].columns[1];
    assert_eq!((step.samples, step.p50.is_some(), step.max), (80, true, 2_000_000_000));
    assert_eq!(step.p50, second.response.percentile(50.0), "one step is all there is");
}

#[test]
fn the_warmup_is_marked_and_what_comes_of_it_later_is_apart() {
    let plan = with_warmup(plan(3), 2);
    let seconds = [
        Second::at(-2).phase(0).done(50, 5),
        Second::at(-1).phase(0).done(40, 5).open(10),
        Second::at(0).phase(0).answered(10, 900).phase(1).done(100, 7),
        Second::at(1).phase(1).done(100, 7),
        Second::at(2).phase(1).done(100, 7),
    ]
    .map(Second::seal);
    let narrow = check(&plan, 100, &seconds);
    let kinds: Vec<_> =
        narrow.columns.iter().map(|column| (column.warmup, column.from.0 / 1_000_000_000)).collect();
    assert_eq!(kinds, [(true, -2), (true, -1), (false, 0), (false, 1), (false, 2)]);
    assert_eq!((narrow.warmup()[1].open, narrow.warmup()[1].counters.done), (10, 40));
    assert_eq!(narrow.warmup_after.done, 10);
    assert_eq!(narrow.response.max(), 7_000_000, "the slow ones were the warm-up's");
    // The end of the warm-up is within one of the longer buckets, so each kind has its own part.
    let far = [seconds.as_slice(), &[Second::at(35).phase(1).done(1, 7).seal()]].concat();
    let wide = check(&plan, 5, &far);
    let reported: Vec<_> =
        wide.columns.iter().map(|it| (it.warmup, it.from.0 / 1_000_000_000, it.counters.done)).collect();
    assert_eq!(
        (wide.column, reported),
        (Nanos::from_secs(20), vec![(true, -2, 90), (false, 0, 300), (false, 35, 1)])
    );
}

#[test]
fn columns_become_longer_in_lengths_that_people_read() {
    fn check_length(seconds: i64, columns_max: usize, grown_s: i64, fitting_s: i64) {
        let plan = plan(seconds);
        let intervals: Vec<_> = (0..seconds)
            .map(|at| Second::at(at).done(1 + at as u64 % 7, 1 + at as u64 % 90).seal())
            .collect();
        let grown = check(&plan, columns_max, &intervals);
        let mut maker =
            TimeSeriesBuilder::new(&plan, columns_max).spanning(Nanos::ZERO, Nanos::from_secs(seconds));
        for interval in &intervals {
            maker.add(interval);
        }
        let fitting = maker.finish();
        let lengths = (grown.column, fitting.column, fitting.step_column);
        let expected = (Nanos::from_secs(grown_s), Nanos::from_secs(fitting_s), Nanos::from_secs(fitting_s));
        assert_eq!(lengths, expected, "{seconds} s in {columns_max}");
        assert_eq!((&fitting.response, &fitting.counters), (&grown.response, &grown.counters));
        assert!(fitting.columns.iter().all(|column| column.from.0 % fitting.column.0 == 0));
    }
    check_length(50, 100, 1, 1);
    check_length(150, 100, 2, 2);
    check_length(400, 100, 10, 5);
    check_length(3600, 400, 10, 10);
    check_length(3600, 150, 60, 30);
    check_length(10_000, 100, 120, 120);
}

#[test]
fn gauges_are_those_of_the_latest_seal_and_gaps_are_seen() {
    let second = |at, users| {
        Second::at(at).done(10, 5).open(at as u64).busy(10 * (at as u64 + 1)).with(|interval| {
            (interval.users, interval.conns.open, interval.conns.peak) = (users, users + 1, users + 2);
            interval.conns.opened = 1;
        })
    };
    let kept = [0, 1, 2, 3, 7].map(|at| second(at, 100 - at as u64).seal());
    let course = course(&plan(10), 5, &kept);
    let reported: Vec<_> =
        course.columns.iter().map(|it| (it.intervals, it.users, it.conns.open, it.open)).collect();
    assert_eq!(
        (course.column, reported),
        (Nanos::from_secs(2), vec![(2, 99, 100, 1), (2, 97, 98, 3), (0, 0, 0, 0), (1, 93, 94, 7)])
    );
    assert_eq!((course.columns[0].conns.peak, course.columns[0].conns.opened), (102, 2));
    assert!(
        (course.columns[0].busy_max - 0.2).abs() < 1e-9
            && (course.columns[0].busy_mean() - 0.15).abs() < 1e-9
    );
    assert_eq!((course.columns[3].from, course.columns[3].len), (Nanos::from_secs(7), Nanos::SECOND));
}

#[test]
fn room_is_bounded_however_far_and_manifold() {
    let far = [i64::MIN, -5, 0, 7_000_000_000, i64::MAX - 1]
        .map(|from| Interval { from: Nanos(from), ..Second::at(0).done(1, 5).seal() });
    let spread = course(&plan(1), 50, &far);
    assert!(spread.columns.len() <= 50 && spread.response.count() == 5, "{}", spread.columns.len());
    // More steps than may have a course of their own, each in more seconds than there is room for.
    let mut maker = TimeSeriesBuilder::new(&plan(1), 100);
    for at in 0..4 {
        let mut interval = Second::at(at).seal();
        for number in 0..SERIES_MAX as u16 + 100 {
            let key = Key { phase: 0, scenario: number / 100, step: number % 100 };
            interval
                .steps
                .push(wavetank_measure::StepSeries { key, ..wavetank_measure::StepSeries::default() });
            let step = interval.steps.last_mut().expect("it was just put there");
            (step.counters.offered, step.counters.done) = (1, 1);
            step.response.record(1_000_000);
        }
        maker.add(&interval);
    }
    let many = maker.finish();
    assert_eq!(
        (many.steps.len(), many.steps_untold, many.counters.done),
        (SERIES_MAX, 400, 4 * (SERIES_MAX as u64 + 100))
    );
    let cells: usize = many.steps.iter().map(|step| step.columns.len()).sum();
    assert!(cells <= TimeSeries::CELLS_MAX && many.step_column > many.column, "{cells} cells");
    assert!(many.steps.iter().all(|step| step.counters.done == 4 && step.response.count() == 4));
}

#[test]
fn checkpoint_data_is_in_totals_and_in_no_column() {
    let plan = with_warmup(plan(10), 2);
    let warmup = Second::at(-1).phase(0).done(30, 50).seal();
    let second = |at: i64| {
        let done = Second::at(at).phase(1).done_lagging(100 + at as u64, 5 + 3 * at as u64, 200);
        done.failed(2, ErrorClass::RequestTimeout, 900 + at as u64).with(|it| it.conns.opened = 3).seal()
    };
    let all: Vec<_> = std::iter::once(warmup).chain((0..8).map(second)).collect();
    let mut sum = Interval::default();
    all[..6].iter().for_each(|interval| sum.merge(interval));
    let mut maker = TimeSeriesBuilder::new(&plan, 100);
    for at in [0, 1, 2] {
        maker.add(&all[at]);
    }
    maker.checkpoint(&sum); // 2 to 4 were lost
    all[6..].iter().for_each(|interval| maker.add(interval));
    let (found, whole) = (maker.finish(), check(&plan, 100, &all));
    assert_eq!(found.counters, whole.counters);
    assert_eq!((&found.response, &found.service, &found.lag), (&whole.response, &whole.service, &whole.lag));
    assert_eq!(
        (&found.steps[0].response, &found.steps[0].counters),
        (&whole.steps[0].response, &whole.steps[0].counters)
    );
    let untimed = found.untimed.as_deref().expect("three seconds have no time");
    assert_eq!((untimed.counters.done, untimed.censored(), untimed.conns.opened), (102 + 103 + 104, 6, 9));
    assert_eq!(found.columns.iter().filter(|column| column.intervals == 0).count(), 3);
    assert_eq!(whole.untimed, None);
}

proptest! {
    #[test]
    fn agents_may_come_in_any_order(
        draws in prop::collection::vec((0_usize..3, -3_i64..40, 0_u8..4, 1_u64..50, 0_u64..3000), 1..60),
        order in any::<prop::sample::Index>(),
        columns_max in 4_usize..40,
    ) {
        let mut plan = with_warmup(plan(20), 2);
        plan.phases.push(phase("next", 20, 20));
        let mut agents = vec![std::collections::BTreeMap::new(); 3];
        for (agent, at, what, n, ms) in draws {
            let second = agents[agent].remove(&at).unwrap_or_else(|| Second::at(at));
            let second = second.phase(if at < 0 { 0 } else { 1 + u16::from(at >= 20) });
            agents[agent].insert(at, match what {
                0 => second.done_lagging(n, ms + 2, ms),
                1 => second.failed(n, ErrorClass::Reset, ms),
                2 => second.failed(n, ErrorClass::RequestTimeout, ms),
                _ => second.open(n).with(|interval| (interval.users, interval.conns.peak) = (n, ms)),
            });
        }
        let mut agents: Vec<Vec<Interval>> = agents.into_iter().map(|agent| agent.into_values().map(Second::seal).collect()).collect();
        let first = course(&plan, columns_max, &agents.concat());
        // Each agent has its own builder; the results are merged.
        agents.rotate_left(order.index(3));
        let mut makers: Vec<_> = agents.iter().map(|intervals| {
            let mut maker = TimeSeriesBuilder::new(&plan, columns_max);
            for interval in intervals {
                maker.add(interval);
            }
            maker
        }).collect();
        let mut all = makers.remove(order.index(3));
        for maker in makers {
            all.absorb(maker);
        }
        prop_assert_eq!(&all.finish(), &first);
        agents.reverse();
        prop_assert_eq!(&course(&plan, columns_max, &agents.concat()), &first);
    }
}
