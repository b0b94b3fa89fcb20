//! Tests schedules of all shapes against a simple reference, for each second of each shape, for 1,
//! 2 and 7 shares.

use std::sync::Arc;

use wavetank_pace::{Arrival, ArrivalSource, Partition, Philox, Schedule, ScheduleSpec};
use wavetank_plan::shape::Segment;
use wavetank_plan::{Arrivals, RateCurve};
use wavetank_units::{Nanos, Rate};

const fn s(seconds: i64) -> Nanos {
    Nanos::from_secs(seconds)
}

const fn per_s(count: u64) -> Rate {
    Rate::per_second(count)
}

fn spec(seed: u64, rate: &RateCurve, arrivals: Arrivals, share: Partition) -> ScheduleSpec<'_> {
    let start = Nanos(-1_234_567_891);
    let end = Some(start.after(rate.length()));
    ScheduleSpec {
        seed,
        phase: 3,
        start,
        end,
        line: ArrivalSource::Rate(rate, arrivals),
        count_max: None,
        share,
    }
}

fn rest(mut schedule: Schedule) -> Vec<Arrival> {
    std::iter::from_fn(move || schedule.pop()).collect()
}

/// Returns the merged list of all shares, after checking that it is the same for any number of
/// them.
fn merged(seed: u64, rate: &RateCurve, arrivals: Arrivals) -> Vec<Arrival> {
    let list = |share| rest(Schedule::new(spec(seed, rate, arrivals, share)));
    let whole = list(Partition::WHOLE);
    for parts in [2, 7] {
        let mut all: Vec<_> = (0..parts).flat_map(|k| list(Partition::WHOLE.split(parts, k))).collect();
        all.sort_by_key(|arrival| arrival.index);
        assert!(all == whole, "seed {seed}: {parts} shares differ from one, {arrivals:?} on {rate:?}");
    }
    assert!(whole.iter().zip(0..).all(|(arrival, index)| arrival.index == index), "seed {seed} {rate:?}");
    assert!(whole.is_sorted_by_key(|arrival| arrival.at), "seed {seed} {rate:?}");
    whole
}

/// The integral of the rate from `0` to `at` ns by adding up the pieces in floating point.
fn integral(rate: &RateCurve, at: f64) -> f64 {
    let (mut left, mut sum) = (at, 0.0);
    loop {
        for piece in rate.pieces() {
            let (length, begin, end) = (piece.length.0 as f64, piece.begin as f64, piece.end as f64);
            let part = left.min(length);
            sum += (begin + (end - begin) * part / length / 2.0) * part / rate.per().0 as f64;
            left -= part;
            if left <= 0.0 {
                return sum;
            }
        }
    }
}

/// Even arrivals match the integral in every second. Poisson arrivals differ from it within the
/// bounds of chance.
fn check(seed: u64, rate: &RateCurve) {
    let start = spec(seed, rate, Arrivals::Even, Partition::WHOLE).start;
    let even = merged(seed, rate, Arrivals::Even);
    assert_eq!(even.len() as u64, rate.total(), "seed {seed} {rate:?}");
    for arrival in &even {
        assert_eq!(rate.instant_at(arrival.index), Some(arrival.at - start), "seed {seed} {rate:?}");
    }
    let poisson = merged(seed, rate, Arrivals::Poisson);
    let seconds = (rate.length().0 + 999_999_999) / 1_000_000_000;
    for second in 0..seconds {
        let (from, until) = (s(second), s(second + 1).min(rate.length()));
        let within = |arrivals: &[Arrival]| {
            let before = |at: Nanos| arrivals.partition_point(|arrival| arrival.at < start + at);
            (before(until) - before(from)) as f64
        };
        let expected = integral(rate, until.0 as f64) - integral(rate, from.0 as f64);
        let (evenly, by_chance) = (within(&even), within(&poisson));
        assert!(
            (evenly - expected).abs() <= 1.0 + 1e-6,
            "seed {seed}: {evenly} in second {second}, not {expected}"
        );
        let most = 6.0 * expected.sqrt() + 6.0;
        assert!(
            (by_chance - expected).abs() < most,
            "seed {seed}: {by_chance} in second {second}, not {expected}"
        );
    }
    for (arrivals, list) in [(Arrivals::Even, &even), (Arrivals::Poisson, &poisson)] {
        let spec = spec(seed, rate, arrivals, Partition::WHOLE);
        for k in [0, list.len() / 2, list.len().saturating_sub(1), list.len()] {
            let expected = list.get(k).map(|arrival| arrival.at);
            assert_eq!(spec.instant_at(k as u64), expected, "seed {seed}, number {k} of {rate:?}");
        }
    }
    check_places(seed, rate, &poisson, start);
}

/// Transformed by the integral, a Poisson process on any curve has exponential gaps
/// (Kolmogorov-Smirnov; 2.2 is exceeded once in 8,000 cases).
fn check_places(seed: u64, rate: &RateCurve, arrivals: &[Arrival], start: Nanos) {
    if arrivals.len() < 1_000 {
        return;
    }
    let mut last = 0.0;
    let mut gaps: Vec<f64> = Vec::with_capacity(arrivals.len());
    for arrival in arrivals {
        let place = integral(rate, (arrival.at - start).0 as f64 + 0.5);
        gaps.push(place - last);
        last = place;
    }
    gaps.sort_by(f64::total_cmp);
    let count = gaps.len() as f64;
    let distance = gaps.iter().enumerate().fold(0.0, |worst: f64, (k, gap)| {
        let below = 1.0 - (-gap).exp();
        worst.max((below - k as f64 / count).abs()).max((below - (k + 1) as f64 / count).abs())
    });
    assert!(distance * count.sqrt() < 2.2, "seed {seed}: distance {distance} of {count} gaps on {rate:?}");
}

#[test]
fn every_shape_is_one_list_with_the_right_number_in_each_second() {
    let shapes = [
        RateCurve::ramp(per_s(0), per_s(2_000), s(5)),
        RateCurve::ramp(per_s(2_000), per_s(0), s(5)),
        RateCurve::ramp(Rate { count: 7, per: s(60) }, per_s(300), Nanos(3_333_333_333)),
        RateCurve::ramp(per_s(0), per_s(3_000_000), Nanos::from_millis(20)),
        RateCurve::ramp(Rate { count: 1, per: s(3_600) }, Rate { count: 1, per: s(60) }, s(3_600)),
        RateCurve::stairs(per_s(0), per_s(500), per_s(150), Nanos(777_777_777), Nanos::ZERO),
        RateCurve::stairs(per_s(900), per_s(0), per_s(400), s(2), Nanos(1_234_567_890)),
        RateCurve::wave(per_s(10), per_s(1_000), Nanos(1_999_999_999), s(7)),
        RateCurve::wave(per_s(500), per_s(0), s(10), s(4)),
        RateCurve::constant(per_s(50), Some(s(10))).with_spikes(per_s(5_000), Nanos::from_millis(70), s(3)),
        RateCurve::ramp(per_s(0), per_s(100), s(9)).and_then(|ramp| ramp.with_spikes(per_s(0), s(1), s(3))),
        RateCurve::steps(&[(s(1), per_s(10)), (s(2), per_s(0)), (s(5), per_s(700))], s(6)),
        Ok(RateCurve::constant(per_s(0), Some(s(3)))),
        Ok(RateCurve::constant(per_s(123), Some(Nanos(1)))),
        Ok(RateCurve::constant(Rate { count: 1, per: s(7) }, Some(s(100)))),
    ];
    for (seed, rate) in (0..).zip(shapes) {
        check(seed, &rate.expect("a shape"));
    }
}

#[test]
fn any_pieces_at_all_make_one_list() {
    let mut arrivals = 0;
    for seed in 100..160 {
        let mut random = Philox::keyed(seed, 7, 7);
        let highest = 1 << (1 + random.below(12));
        let pieces: Vec<Segment> = (0..=random.below(6))
            .map(|_| {
                // Every other piece starts at rate 0.
                let mut count = || random.below(2) * random.below(highest);
                let (begin, end) = (count(), count());
                Segment { length: Nanos(1 + random.below(900_000_000) as i64), begin, end }
            })
            .collect();
        let per = [Nanos::SECOND, s(60), Nanos(999_999_937), Nanos(1_000_003)][random.below(4) as usize];
        let length = Nanos(1 + random.below(4_000_000_000) as i64);
        let rate = RateCurve::new(per, pieces, length).expect("a shape");
        if rate.total() < 50_000 {
            arrivals += rate.total();
            check(seed, &rate);
        }
    }
    assert!(arrivals > 10_000, "{arrivals} arrivals are no test");
}

/// A change inside any shape keeps earlier arrivals, gives later ones the new rate, and is the same
/// for all shares.
#[test]
fn a_change_cuts_any_shape_at_the_instant() {
    let times: Arc<[Nanos]> = (0..3_000_i64).map(|k| Nanos(k * k * 300)).collect();
    for seed in 0..20 {
        let mut random = Philox::keyed(seed, 8, 8);
        let rate = RateCurve::wave(per_s(0), per_s(2_000), Nanos(700_000_007), s(3)).expect("a wave");
        let ramp =
            RateCurve::ramp(per_s(random.below(500)), per_s(random.below(5_000)), s(3)).expect("a ramp");
        let at = Nanos(random.below(1_500_000_000) as i64);
        for line in [
            ArrivalSource::Rate(&rate, Arrivals::Even),
            ArrivalSource::Rate(&rate, Arrivals::Poisson),
            ArrivalSource::Rate(&ramp, Arrivals::Even),
            ArrivalSource::Rate(&ramp, Arrivals::Poisson),
            ArrivalSource::Times(&times),
        ] {
            let list = |share, ahead: bool, change: Option<Rate>| {
                let end = Some(s(2));
                let spec = ScheduleSpec {
                    line,
                    start: Nanos::ZERO,
                    end,
                    share,
                    ..spec(seed, &rate, Arrivals::Even, share)
                };
                let mut schedule = Schedule::new(spec);
                let mut all = Vec::new();
                while !ahead && schedule.peek().is_some_and(|due| due < at) {
                    all.extend(schedule.pop());
                }
                if let Some(rate) = change {
                    schedule.change(at, rate);
                }
                all.extend(rest(schedule));
                all
            };
            let (plain, changed) =
                (list(Partition::WHOLE, true, None), list(Partition::WHOLE, true, Some(per_s(777))));
            let kept = plain.partition_point(|arrival| arrival.at < at);
            assert_eq!(changed[..kept], plain[..kept], "seed {seed} at {at:?} {line:?}");
            let (follow, expected) = ((changed.len() - kept) as f64, (s(2) - at).as_secs_f64() * 777.0);
            assert!(
                (follow - expected).abs() < 5.0 * expected.sqrt() + 2.0,
                "seed {seed}: {follow}, not {expected}"
            );
            for parts in [2, 7] {
                let share = |k| list(Partition::WHOLE.split(parts, k), k % 2 == 0, Some(per_s(777)));
                let mut all: Vec<_> = (0..parts).flat_map(share).collect();
                all.sort_by_key(|arrival| arrival.index);
                assert_eq!(all, changed, "seed {seed}, {parts} shares, change at {at:?} of {line:?}");
            }
        }
    }
}

#[test]
fn a_trace_is_its_own_list() {
    let times: Arc<[Nanos]> = [0, 5, 5, 5, 1_000_000_000, 7_000_000_000].map(Nanos).into();
    let list = |share, end, count_max| {
        let line = ArrivalSource::Times(&times);
        rest(Schedule::new(ScheduleSpec { seed: 1, phase: 0, start: s(2), end, line, count_max, share }))
            .into_iter()
            .map(|arrival| (arrival.index, arrival.at.0 - 2_000_000_000))
            .collect::<Vec<_>>()
    };
    let all = [(0, 0), (1, 5), (2, 5), (3, 5), (4, 1_000_000_000), (5, 7_000_000_000)];
    assert_eq!(list(Partition::WHOLE, None, None), all);
    assert_eq!(list(Partition::WHOLE, Some(s(9)), None), all[..5]);
    assert_eq!(list(Partition::WHOLE, None, Some(2)), all[..2]);
    assert_eq!(list(Partition::WHOLE.split(2, 1), None, None), [all[1], all[3], all[5]]);
}
