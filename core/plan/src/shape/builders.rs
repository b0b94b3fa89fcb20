//! Straight pieces of the grammar's shapes, for rates and levels alike.

use wavetank_units::{Nanos, Rate};

use super::segments::{PIECES_MAX, Segment};
use super::{ShapeError, wave};

/// One value all along.
pub(super) fn flat(value: u64, length: Nanos) -> Vec<Segment> {
    vec![Segment { length, begin: value, end: value }]
}

/// One value for the last `length` ns of a shape, if it has not ended.
pub(super) fn rest(value: u64, length: u64) -> Option<Segment> {
    (length > 0).then_some(Segment { length: Nanos(length as i64), begin: value, end: value })
}

/// Evenly from one value to another.
pub(super) fn ramp(begin: u64, end: u64, length: Nanos) -> Vec<Segment> {
    vec![Segment { length, begin, end }]
}

/// Builds stairs from `begin` to `end`. Each stair is `step` above (or below) the one before, and
/// the last one is `end` itself. A stair lasts `every`. Its first `ramp` leads up to it evenly;
/// without a ramp it is a jump.
pub(super) fn stairs(
    begin: u64,
    end: u64,
    step: u64,
    every: Nanos,
    ramp: Nanos,
) -> Result<Vec<Segment>, ShapeError> {
    if step == 0 {
        return Err(ShapeError::ZeroStep);
    }
    if every <= Nanos::ZERO {
        return Err(ShapeError::ZeroLength);
    }
    if ramp > every {
        return Err(ShapeError::RampTooLong);
    }
    // From one value to itself is a single stair, so that its length is not nothing.
    let count = begin.abs_diff(end).div_ceil(step).max(1);
    if count > PIECES_MAX as u64 {
        return Err(ShapeError::TooManyPieces);
    }
    let level = |stair: u64| {
        let moved = step.saturating_mul(stair);
        if begin <= end { begin.saturating_add(moved).min(end) } else { begin.saturating_sub(moved).max(end) }
    };
    let pieces = (1..=count).flat_map(|stair| {
        let (before, value) = (level(stair - 1), level(stair));
        let rise = Segment { length: ramp, begin: before, end: value };
        let rest = Segment { length: every - ramp, begin: value, end: value };
        [rise, rest].into_iter().filter(|piece| piece.length > Nanos::ZERO)
    });
    Ok(pieces.collect())
}

/// How long such stairs last: stairs × `every`.
pub(super) fn stairs_length(begin: u64, end: u64, step: u64, every: Nanos) -> Result<Nanos, ShapeError> {
    let count = begin.abs_diff(end).div_ceil(step.max(1)).max(1);
    let length = i64::try_from(count).ok().and_then(|count| every.0.checked_mul(count));
    length.map(Nanos).ok_or(ShapeError::OutOfRange)
}

/// Builds one period of a wave with these values at its knots.
pub(super) fn period(period: Nanos, value: impl Fn(usize) -> u64) -> Result<Vec<Segment>, ShapeError> {
    if period <= Nanos::ZERO {
        return Err(ShapeError::ZeroLength);
    }
    let ns = period.0.unsigned_abs();
    let pieces = (0..wave::PIECES).map(|k| Segment {
        length: Nanos((wave::knot(ns, k + 1) - wave::knot(ns, k)) as i64),
        begin: value(k),
        end: value(k + 1),
    });
    // A period of less than 64 ns has fewer pieces.
    Ok(pieces.filter(|piece| piece.length > Nanos::ZERO).collect())
}

/// `at: RATE` for users and connections: returns the time from `begin` to `end` at the rate `at`,
/// rounded up to a nanosecond. `None` if the rate is 0 or the time does not fit.
pub fn climb_length(begin: u64, end: u64, at: Rate) -> Option<Nanos> {
    let ns = u128::from(begin.abs_diff(end)).checked_mul(u128::from(at.per.0.unsigned_abs()))?;
    let count = u128::from(at.count);
    (count > 0).then(|| ns.div_ceil(count)).and_then(|ns| i64::try_from(ns).ok()).map(Nanos)
}

/// `at: RATE` for a rate: `0/s to 10k/s, at: 100/s` takes 100 s, because each second adds 100/s.
/// The result is rounded up to a nanosecond; `None` as in [`climb_length`].
pub fn rise_length(begin: Rate, end: Rate, at: Rate) -> Option<Nanos> {
    let scaled = |rate: Rate, other: Rate| u128::from(rate.count) * u128::from(other.per.0.unsigned_abs());
    // |B − A| = difference / (per A × per B). The length in seconds is |B − A| divided by
    // count / per of `at`.
    let difference = scaled(begin, end).abs_diff(scaled(end, begin));
    let pers = u128::from(begin.per.0.unsigned_abs()) * u128::from(end.per.0.unsigned_abs());
    let divisor = gcd(difference, pers);
    let (difference, pers) = (difference / divisor, pers / divisor);
    let above = difference.checked_mul(u128::from(at.per.0.unsigned_abs()))?;
    let below = pers.checked_mul(u128::from(at.count))?;
    let divisor = gcd(above, below);
    let (above, below) = (above / divisor.max(1), below / divisor.max(1));
    let ns = above.checked_mul(u128::from(Nanos::SECOND.0.unsigned_abs()))?;
    (below > 0).then(|| ns.div_ceil(below)).and_then(|ns| i64::try_from(ns).ok()).map(Nanos)
}

/// Euclid's algorithm; 0 only of two zeros.
pub(super) fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
