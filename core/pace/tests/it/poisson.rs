//! Tests that Poisson arrivals are a Poisson process: counts, gaps, independence; fixed seeds.

use wavetank_pace::{Arrival, ArrivalSource, Partition, Schedule, ScheduleSpec};
use wavetank_plan::{Arrivals, RateCurve};
use wavetank_units::{Nanos, Rate};

fn spec(seed: u64, rate: Rate, end: Nanos) -> ScheduleSpec<'static> {
    ScheduleSpec {
        seed,
        phase: 0,
        start: Nanos::ZERO,
        end: Some(end),
        // Leaks the curve. Tests are short, so the lost memory does not matter.
        line: ArrivalSource::Rate(Box::leak(Box::new(RateCurve::constant(rate, None))), Arrivals::Poisson),
        count_max: None,
        share: Partition::WHOLE,
    }
}

fn rest(mut schedule: Schedule) -> Vec<Arrival> {
    std::iter::from_fn(move || schedule.pop()).collect()
}

/// Counts in windows of `window` have mean and variance `rate × window`; gaps are exponential
/// (Kolmogorov-Smirnov; 1.95 is exceeded once in a thousand seeds).
fn check(seed: u64, rate: Rate, seconds: i64, window: Nanos) {
    let end = Nanos::from_secs(seconds);
    let arrivals = rest(Schedule::new(spec(seed, rate, end)));
    check_gaps(seed, &arrivals, rate.as_per_second());
    let mut counts = vec![0.0; (end.0 / window.0) as usize];
    for arrival in &arrivals {
        // The last window is cut short by the end and left out.
        if let Some(count) = counts.get_mut((arrival.at.0 / window.0) as usize) {
            *count += 1.0;
        }
    }
    let windows = counts.len() as f64;
    let expected = rate.as_per_second() * window.as_secs_f64();
    let mean = counts.iter().sum::<f64>() / windows;
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / windows;
    let (error, error_of_variance) =
        ((expected / windows).sqrt(), ((2.0 * expected * expected + expected) / windows).sqrt());
    assert!((mean - expected).abs() < 4.0 * error, "seed {seed} {rate:?}: mean {mean}, not {expected}");
    assert!(
        (variance - expected).abs() < 4.0 * error_of_variance,
        "seed {seed} {rate:?}: variance {variance}, not {expected}"
    );
    // Counts of neighbouring windows are independent.
    let together: f64 = counts.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    let correlation = together / windows / variance;
    assert!(correlation.abs() < 4.0 / windows.sqrt(), "seed {seed} {rate:?}: correlation {correlation}");
}

fn check_gaps(seed: u64, arrivals: &[Arrival], per_second: f64) {
    let mut gaps: Vec<f64> =
        arrivals.windows(2).map(|pair| (pair[1].at - pair[0].at).as_secs_f64() * per_second).collect();
    gaps.sort_by(f64::total_cmp);
    let count = gaps.len() as f64;
    let distance = gaps.iter().enumerate().fold(0.0, |worst: f64, (k, gap)| {
        let below = 1.0 - (-gap).exp();
        worst.max((below - k as f64 / count).abs()).max((below - (k + 1) as f64 / count).abs())
    });
    let distance = distance * count.sqrt();
    assert!(distance < 1.95, "seed {seed} {per_second}/s: distance {distance} of {count} gaps");
}

#[test]
fn counts_and_gaps_are_those_of_a_poisson_process() {
    for seed in 1..6 {
        check(seed, Rate::per_second(2_000), 50, Nanos::from_millis(7));
        check(seed, Rate::per_second(20), 2_000, Nanos::from_millis(333));
        check(seed, Rate { count: 90, per: Nanos::from_secs(60) }, 20_000, Nanos::from_secs(3));
        check(seed, Rate::per_second(100_000), 2, Nanos::from_millis(1));
    }
}

#[test]
fn each_stretch_has_its_own_rate_from_the_very_instant() {
    for seed in 1..6 {
        // Every block of 10 ms is cut at odd instants: 3 ms at 30k/s, 4 ms without arrivals, 3 ms
        // at 3k/s.
        let mut schedule = Schedule::new(spec(seed, Rate::per_second(30_000), Nanos::from_secs(2)));
        let edges =
            |block: i64| [block * 10_000_000, block * 10_000_000 + 3_000_001, block * 10_000_000 + 7_000_003];
        let rates = [30_000, 0, 3_000];
        for block in 0..200 {
            for (at, rate) in edges(block).into_iter().zip(rates) {
                schedule.change(Nanos(at), Rate::per_second(rate));
            }
        }
        let mut sums = [0_u32; 3];
        // Arrivals of the fast stretches alone, joined, are a Poisson process again.
        let mut fast = Vec::new();
        for arrival in rest(schedule) {
            let [begin, quiet, slow] = edges(arrival.at.0 / 10_000_000);
            let stretch = usize::from(arrival.at.0 >= quiet) + usize::from(arrival.at.0 >= slow);
            sums[stretch] += 1;
            if stretch == 0 {
                let at = Nanos(arrival.at.0 / 10_000_000 * 3_000_001 + arrival.at.0 - begin);
                fast.push(Arrival { at, ..arrival });
            }
        }
        let near = |seen: u32, expected: f64| (f64::from(seen) - expected).abs() < 4.0 * expected.sqrt();
        assert!(near(sums[0], 18_000.0) && sums[1] == 0 && near(sums[2], 1_800.0), "seed {seed}: {sums:?}");
        check_gaps(seed, &fast, 30_000.0);
    }
}

#[test]
fn a_seed_and_a_phase_fix_the_list_and_others_have_others() {
    let base = spec(1, Rate::per_second(1_000), Nanos::from_secs(10));
    let list = |spec| rest(Schedule::new(spec)).into_iter().map(|arrival| arrival.at).collect::<Vec<_>>();
    let first = list(base);
    assert_eq!(first, list(base));
    // The same list wherever the phase starts.
    let start = Nanos(-123_456_789);
    let moved = list(ScheduleSpec { start, end: Some(start + Nanos::from_secs(10)), ..base });
    assert!(first.iter().zip(&moved).all(|(&a, &b)| b - start == a) && first.len() == moved.len());
    for other in [ScheduleSpec { seed: 2, ..base }, ScheduleSpec { phase: 1, ..base }] {
        let other = list(other);
        let common = first.iter().filter(|at| other.binary_search(at).is_ok()).count();
        assert!(common < 10, "{common} arrivals in common");
    }
}

/// A list that was published once must not change, because archived runs are repeated by their
/// seed.
#[test]
fn the_list_of_a_seed_never_changes() {
    let check = |rate, expected: [i64; 4]| {
        let found = rest(Schedule::new(spec(7, rate, Nanos::from_secs(1_000))));
        let found: Vec<i64> = found.iter().take(4).map(|arrival| arrival.at.0).collect();
        assert_eq!(found, expected);
    };
    check(Rate::per_second(1), [192_792_135, 1_048_771_336, 3_654_010_628, 7_252_773_081]);
    check(Rate::per_second(5_000), [293_566, 367_490, 398_832, 565_556]);
}
