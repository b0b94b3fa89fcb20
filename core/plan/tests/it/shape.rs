//! Compares shapes with simple models: the grammar's definition, integrated nanosecond by
//! nanosecond or in exact fractions, second by second.

use wavetank_plan::shape::{PopulationCurve, RateCurve, Segment, ShapeError, climb_length, rise_length};
use wavetank_units::{Nanos, Rate};

const fn s(seconds: i64) -> Nanos {
    Nanos::from_secs(seconds)
}

const fn per_s(count: u64) -> Rate {
    Rate::per_second(count)
}

/// Returns the integral at `at`, times `2 × per × the length of the piece it ends in`, by walking
/// the pieces repeatedly.
fn walked(curve: &RateCurve, at: i64) -> (u128, u128) {
    let (mut left, mut ticks) = (i128::from(at), 0_i128);
    loop {
        for piece in curve.pieces() {
            let (length, begin, end) =
                (i128::from(piece.length.0), i128::from(piece.begin), i128::from(piece.end));
            if left <= length {
                let part = 2 * begin * left * length + (end - begin) * left * left;
                return ((ticks * length + part) as u128, length as u128);
            }
            ticks += (begin + end) * length;
            left -= length;
        }
    }
}

/// Arrivals in each second are those of the integral. Each arrival is at the instant where the
/// integral passes its number.
fn check(curve: &RateCurve, totals: &[u64]) {
    let seconds = (curve.length().0 as u64).div_ceil(1_000_000_000) as i64;
    let per = 2 * curve.per().0 as u128;
    let mut counted = Vec::new();
    for second in 0..seconds {
        let (from, until) = (s(second), s(second + 1).min(curve.length()));
        let (ticks, length) = walked(curve, until.0);
        let expected = ticks.div_ceil(per * length) as u64;
        assert_eq!(curve.arrivals_before(until), expected, "before {until:?} of {curve:?}");
        counted.push(curve.arrivals_before(until) - curve.arrivals_before(from));
    }
    assert!(totals.is_empty() || counted == totals, "{counted:?}, not {totals:?}");
    let total = curve.total();
    assert_eq!(curve.arrivals_before(Nanos::MAX), total);
    assert_eq!(curve.instant_at(total), None, "{curve:?}");
    let stride = (total / 997).max(1) as usize;
    for index in (0..total).step_by(stride).chain(total.checked_sub(1)) {
        let at = curve.instant_at(index).expect("one of those counted").0;
        let passed = |at: i64| {
            let (ticks, length) = walked(curve, at);
            ticks > u128::from(index) * per * length
        };
        assert!(!passed(at) && passed(at + 1), "arrival {index} at {at} of {curve:?}");
    }
}

#[test]
fn rates_of_the_grammar_second_by_second() {
    check(&RateCurve::constant(per_s(3), Some(s(4))), &[3, 3, 3, 3]);
    check(&RateCurve::constant(per_s(0), Some(s(2))), &[0, 0]);
    check(&RateCurve::ramp(per_s(0), per_s(10), s(5)).expect("a ramp"), &[1, 3, 5, 7, 9]);
    check(&RateCurve::ramp(per_s(10), per_s(0), s(5)).expect("a ramp"), &[9, 7, 5, 3, 1]);
    check(&RateCurve::ramp(per_s(4), per_s(4), s(2)).expect("a ramp"), &[4, 4]);
    let stairs = |ramp| RateCurve::stairs(per_s(10), per_s(35), per_s(10), s(2), ramp).expect("stairs");
    check(&stairs(Nanos::ZERO), &[20, 20, 30, 30, 35, 35]);
    check(&stairs(s(1)), &[15, 20, 25, 30, 33, 35]);
    let down = RateCurve::stairs(per_s(30), per_s(0), per_s(20), s(1), Nanos::ZERO).expect("stairs");
    check(&down, &[10, 0]);
    let spikes = RateCurve::constant(per_s(5), Some(s(7))).with_spikes(per_s(50), s(1), s(3));
    check(&spikes.expect("spikes"), &[5, 5, 50, 5, 5, 50, 5]);
    let spikes =
        RateCurve::ramp(per_s(0), per_s(60), s(6)).expect("a ramp").with_spikes(per_s(1_000), s(1), s(3));
    check(&spikes.expect("spikes"), &[5, 15, 1_000, 35, 45, 1_000]);
    let rows = [(s(1), per_s(2)), (s(2), Rate { count: 60, per: s(60) }), (s(3), per_s(7))];
    check(&RateCurve::steps(&rows, s(5)).expect("rows"), &[0, 2, 1, 7, 7]);
    // A whole wave has the mean of its ends, and each second its cosine.
    let wave = RateCurve::wave(per_s(0), per_s(2_000), s(8), s(16)).expect("a wave");
    check(&wave, &[]);
    assert_eq!(wave.total(), 16_000);
    for second in 0..16 {
        let angle = |t: i64| t as f64 * std::f64::consts::TAU / 8.0;
        let exact =
            1_000.0 - 1_000.0 * (angle(second + 1).sin() - angle(second).sin()) * 8.0 / std::f64::consts::TAU;
        let here = wave.arrivals_before(s(second + 1)) - wave.arrivals_before(s(second));
        assert!((here as f64 - exact).abs() < 2.5, "second {second}: {here}, the cosine has {exact}");
    }
}

#[test]
fn strange_rates_and_lengths_stay_exact() {
    let rate = |count, per| Rate { count, per };
    let curves = [
        RateCurve::ramp(rate(1, s(3_600)), rate(7, s(60)), s(1_000)),
        RateCurve::ramp(rate(1, s(3_600)), per_s(1_000_000), s(3)),
        RateCurve::ramp(rate(1, s(86_400)), rate(3, s(86_400)), s(86_400)),
        RateCurve::ramp(per_s(999_983), rate(0, s(7)), Nanos(1_234_567_891)),
        RateCurve::ramp(per_s(3_000_000), per_s(1_000_000_000), Nanos(12_345)),
        RateCurve::ramp(per_s(1), per_s(2), Nanos(1)),
        RateCurve::wave(rate(1, s(60)), per_s(50), Nanos(999_999_937), Nanos(4_123_456_789)),
        RateCurve::wave(per_s(1_000_000_000), per_s(0), Nanos(40), Nanos(1_000)),
        RateCurve::wave(per_s(100_000), per_s(5), s(3_600), s(2)),
        RateCurve::ramp(per_s(0), per_s(33), s(4))
            .and_then(|ramp| ramp.with_spikes(rate(7, s(3)), Nanos(77), Nanos(770_000_001))),
        RateCurve::stairs(rate(0, s(60)), per_s(9), rate(40, s(60)), Nanos(333_333_333), Nanos(333_333_332)),
    ];
    for curve in curves {
        check(&curve.expect("a shape"), &[]);
    }
    // Weeks between unusual units: rounded, but never beyond the limit.
    let long =
        RateCurve::ramp(rate(1, s(3_600)), rate(999_999, Nanos(1_000_003)), s(86_400 * 400)).expect("a ramp");
    check_long(&long, 999_999.0 / 1_000_003e-9 / 2.0 * 86_400.0 * 400.0);
    // A wave of a second for a year costs what one for a minute does.
    let year = RateCurve::wave(per_s(0), per_s(1_000), s(1), s(86_400 * 365)).expect("a wave");
    assert_eq!((year.pieces().len(), year.total()), (64, 500 * 86_400 * 365));
    assert_eq!(year.instant_at(500 * 86_400 * 364), Some(s(86_400 * 364)));
}

fn check_long(curve: &RateCurve, total: f64) {
    let mean = curve.total() as f64;
    assert!((mean / total - 1.0).abs() < 1e-4, "{mean}, not {total}");
    for index in [1, 1 << 20, curve.total() / 2, curve.total() - 1] {
        let at = curve.instant_at(index).expect("one of those counted");
        assert!(curve.arrivals_before(at) <= index && curve.arrivals_before(at.after(Nanos(1))) > index);
    }
}

/// Checks the target number at each second's start and just before its end.
fn check_levels(levels: &PopulationCurve, expected: &[(u64, u64)]) {
    let seconds = levels.length().0 / 1_000_000_000;
    let found: Vec<_> = (0..seconds).map(|at| (levels.at(s(at)), levels.at(s(at + 1) - Nanos(1)))).collect();
    assert_eq!(found, expected, "{levels:?}");
    assert_eq!((levels.at(levels.length()), levels.at(Nanos(-1))), (0, 0));
}

#[test]
fn levels_of_the_grammar_second_by_second() {
    check_levels(&PopulationCurve::constant(7, Some(s(2))), &[(7, 7), (7, 7)]);
    let up = PopulationCurve::climb(0, 10, per_s(5)).expect("a climb");
    check_levels(&up, &[(1, 5), (6, 10)]);
    check_levels(&PopulationCurve::climb(10, 0, per_s(5)).expect("a climb"), &[(9, 5), (4, 0)]);
    check_levels(&PopulationCurve::ramp(4, 4, s(1)).expect("level"), &[(4, 4)]);
    let stairs = |begin, end, ramp| PopulationCurve::stairs(begin, end, 100, s(2), ramp).expect("stairs");
    check_levels(
        &stairs(0, 250, Nanos::ZERO),
        &[(100, 100), (100, 100), (200, 200), (200, 200), (250, 250), (250, 250)],
    );
    check_levels(&stairs(300, 150, s(1)), &[(299, 200), (200, 200), (199, 150), (150, 150)]);
    let wave = PopulationCurve::wave(10, 30, s(4), s(8)).expect("a wave");
    let at: Vec<u64> = (0..8).map(|at| wave.at(s(at))).collect();
    assert_eq!((at[0], at[2], at[4], wave.max()), (10, 30, 10, 30));
    assert!(at[1].abs_diff(20) <= 1 && at[3].abs_diff(20) <= 1, "{at:?}");
}

#[test]
fn lengths_of_climbs() {
    assert_eq!(climb_length(0, 1_000_000, per_s(10_000)), Some(s(100)));
    assert_eq!(climb_length(1_000_000, 0, per_s(50_000)), Some(s(20)));
    assert_eq!(climb_length(0, 1, per_s(3)), Some(Nanos(333_333_334)));
    assert_eq!((climb_length(5, 5, per_s(3)), climb_length(0, 1, per_s(0))), (Some(Nanos::ZERO), None));
    assert_eq!(climb_length(0, u64::MAX, Rate { count: 1, per: s(3_600) }), None);
    assert_eq!(rise_length(per_s(0), per_s(10_000), per_s(100)), Some(s(100)));
    assert_eq!(rise_length(Rate { count: 600, per: s(60) }, per_s(0), per_s(5)), Some(s(2)));
    assert_eq!(rise_length(per_s(0), per_s(1), Rate { count: 60, per: s(3_600) }), Some(s(60)));
    assert_eq!(rise_length(per_s(0), per_s(1), per_s(0)), None);
}

#[test]
fn what_is_no_shape_is_refused() {
    let fault = |made: Result<RateCurve, ShapeError>| made.expect_err("no shape");
    let flat = RateCurve::constant(per_s(1), Some(s(10)));
    assert_eq!(fault(RateCurve::ramp(per_s(1), per_s(2), Nanos::ZERO)), ShapeError::ZeroLength);
    assert_eq!(fault(RateCurve::wave(per_s(1), per_s(2), Nanos::ZERO, s(1))), ShapeError::ZeroLength);
    assert_eq!(fault(RateCurve::new(s(1), vec![], s(1))), ShapeError::ZeroLength);
    assert_eq!(
        fault(RateCurve::stairs(per_s(1), per_s(2), per_s(0), s(1), Nanos::ZERO)),
        ShapeError::ZeroStep
    );
    assert_eq!(fault(RateCurve::stairs(per_s(1), per_s(2), per_s(1), s(1), s(2))), ShapeError::RampTooLong);
    assert_eq!(fault(flat.with_spikes(per_s(1), s(2), s(2))), ShapeError::SpikeTooLong);
    assert_eq!(fault(flat.with_spikes(per_s(1), Nanos::ZERO, s(2))), ShapeError::ZeroLength);
    let far = RateCurve::stairs(per_s(0), per_s(1_000_000_000), per_s(1), s(1), Nanos::ZERO);
    assert_eq!(fault(far), ShapeError::TooManyPieces);
    let moving = RateCurve::ramp(per_s(1), per_s(2), s(86_400)).expect("a ramp");
    assert_eq!(
        fault(moving.with_spikes(per_s(9), Nanos::from_millis(1), Nanos::from_millis(2))),
        ShapeError::TooManyPieces
    );
    let piece = Segment { length: Nanos::MAX, begin: 1, end: 1 };
    assert_eq!(fault(RateCurve::new(s(1), vec![piece, piece], s(1))), ShapeError::OutOfRange);
    assert_eq!(PopulationCurve::climb(3, 3, per_s(1)), Err(ShapeError::ZeroLength));
    assert_eq!(PopulationCurve::climb(0, 3, per_s(0)), Err(ShapeError::OutOfRange));
}

/// Checks `curve` with `rate` from `at` on: what was before stays, and the rest has the new rate.
fn check_changed(curve: &RateCurve, at: Nanos, rate: Rate) {
    let changed = curve.changed_at(at, rate).expect("a few pieces");
    assert_eq!(changed.length(), curve.length());
    let near = |one: f64, other: f64| (one - other).abs() <= other.abs() * 1e-6 + 1.0;
    for step in 0..200 {
        let instant = Nanos(curve.length().0 / 200 * step);
        let expected = if instant < at { curve.per_second_at(instant) } else { rate.count as f64 };
        let found = changed.per_second_at(instant);
        assert!(near(found, expected), "{found}, not {expected} at {instant:?}: {changed:?}");
    }
}

#[test]
fn a_changed_curve_keeps_what_was_before() {
    let curve = |made: Result<RateCurve, ShapeError>| made.expect("a shape");
    let curves = [
        RateCurve::constant(per_s(200), Some(s(15))),
        curve(RateCurve::ramp(per_s(0), per_s(1_000), s(10))),
        curve(RateCurve::stairs(per_s(0), per_s(500), per_s(100), s(2), Nanos::ZERO)),
        curve(RateCurve::wave(per_s(100), per_s(900), s(4), s(30))),
        curve(RateCurve::constant(per_s(50), Some(s(20))).with_spikes(per_s(500), s(1), s(5))),
    ];
    for curve in &curves {
        for at in [Nanos(-5), Nanos::ZERO, s(1), Nanos(3_333_333_333), s(9), curve.length(), Nanos::MAX] {
            check_changed(curve, at, per_s(777));
            check_changed(curve, at, per_s(0));
        }
    }
    // Changes follow each other without end, and an endless curve stays endless.
    let mut endless = RateCurve::constant(Rate { count: 7, per: Nanos::from_secs(60) }, None);
    for second in 1..50 {
        endless = endless.changed_at(s(second), per_s(second as u64)).expect("a few pieces");
    }
    assert_eq!((endless.length(), endless.per_second_at(s(1_000))), (Nanos::MAX, 49.0));
    let users =
        PopulationCurve::ramp(0, 100, s(10)).expect("a ramp").changed_at(s(5), 7).expect("two pieces");
    assert_eq!((users.at(Nanos(4_999_999_999)), users.at(s(5)), users.at(s(9))), (50, 7, 7));
    assert_eq!(users.max(), 50);
}
