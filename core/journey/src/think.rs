//! The time that a user waits between two steps, drawn from one random number.
//!
//! A draw is a pure function of the number, through the inverse of the distribution. Logarithms and
//! exponentials come from the `libm` crate, not from the platform's library: the same seed gives
//! the same times everywhere.

use wavetank_plan::Think;
use wavetank_units::{Code, Nanos, UserError};

/// Rejects invalid values: a reversed range, a 95th percentile below the median, more than a day.
pub fn check(think: Think) -> Result<Think, UserError> {
    let bad = |message: &str, hint: &str| Err(UserError::usage(Code::Think, message, hint));
    let lengths = match think {
        Think::Fixed(length) | Think::Exponential { mean: length } => [Nanos::ZERO, length],
        Think::Even { from, to } if from > to => {
            return bad("a think time's range is reversed", "write the shorter time first: `1s to 3s`");
        }
        Think::Even { from, to } => [from, to],
        Think::Normal { mean, deviation } => [mean, deviation],
        Think::Lognormal { median, p95 } if median <= Nanos::ZERO || p95 < median => {
            return bad(
                "a lognormal think time has its 95th percentile below its median",
                "write the median first, then the 95th percentile: `lognormal 2s p95 8s`",
            );
        }
        Think::Lognormal { median, p95 } => [median, p95],
    };
    if lengths.iter().any(|&length| length < Nanos::ZERO || length > Think::LENGTH_MAX) {
        return bad("a think time is longer than a day", "use a phase with `pause` for a longer silence");
    }
    Ok(think)
}

/// Returns the think time for `word`, 64 random bits.
pub fn sample(think: Think, word: u64) -> Nanos {
    match think {
        Think::Fixed(length) => length,
        Think::Even { from, to } => {
            let span = (to.0 - from.0).max(0) as u64;
            let part = (u128::from(word) * (u128::from(span) + 1)) >> 64;
            Nanos(from.0 + part as i64)
        }
        Think::Exponential { mean } => {
            clamped(mean.0 as f64 * (-libm::log(unit(word))).min(Think::EXPONENTIAL_MEANS_MAX))
        }
        Think::Normal { mean, deviation } => clamped(mean.0 as f64 + deviation.0 as f64 * standard(word)),
        Think::Lognormal { median, p95 } => {
            clamped(median.0 as f64 * libm::exp(sigma(median, p95) * standard(word)))
        }
    }
}

fn sigma(median: Nanos, p95: Nanos) -> f64 {
    libm::log(p95.0.max(1) as f64 / median.0.max(1) as f64).max(0.0) / Think::P95_DEVIATIONS
}

/// Converts a float to nanoseconds, limited to the range of think times.
fn clamped(nanos: f64) -> Nanos {
    Nanos(nanos.clamp(0.0, Think::LENGTH_MAX.0 as f64) as i64)
}

/// Maps `word` to the open interval (0, 1), on a grid of 2^-53.
fn unit(word: u64) -> f64 {
    ((word >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

fn standard(word: u64) -> f64 {
    inverse_normal(unit(word)).clamp(-Think::DEVIATIONS_MAX, Think::DEVIATIONS_MAX)
}

/// The inverse of the standard normal distribution function, accurate to nine digits: P. Acklam's
/// rational approximation with one step of Halley's method on `erfc`.
fn inverse_normal(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969_683_028_665_376e1,
        2.209_460_984_245_205e2,
        -2.759_285_104_469_687e2,
        1.383_577_518_672_69e2,
        -3.066_479_806_614_716e1,
        2.506_628_277_459_239,
    ];
    const B: [f64; 6] = [
        -5.447_609_879_822_406e1,
        1.615_858_368_580_409e2,
        -1.556_989_798_598_866e2,
        6.680_131_188_771_972e1,
        -1.328_068_155_288_572e1,
        1.0,
    ];
    const C: [f64; 6] = [
        -7.784_894_002_430_293e-3,
        -3.223_964_580_411_365e-1,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 5] = [
        7.784_695_709_041_462e-3,
        3.224_671_290_700_398e-1,
        2.445_134_137_142_996,
        3.754_408_661_907_416,
        1.0,
    ];
    const TAIL: f64 = 0.02425;
    let polynomial = |terms: &[f64], x: f64| terms.iter().fold(0.0, |sum, term| sum * x + term);
    let tail = |p: f64| {
        let q = libm::sqrt(-2.0 * libm::log(p));
        polynomial(&C, q) / polynomial(&D, q)
    };
    let rough = if p < TAIL {
        tail(p)
    } else if p > 1.0 - TAIL {
        -tail(1.0 - p)
    } else {
        let q = p - 0.5;
        polynomial(&A, q * q) * q / polynomial(&B, q * q)
    };
    let error = 0.5 * libm::erfc(-rough / core::f64::consts::SQRT_2) - p;
    let step = error * libm::sqrt(2.0 * core::f64::consts::PI) * libm::exp(rough * rough / 2.0);
    rough - step / (1.0 + rough * step / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: fn(i64) -> Nanos = Nanos::from_secs;

    /// Draws from an even grid of numbers, sorted: the quantiles of the distribution itself.
    fn grid(think: Think) -> Vec<f64> {
        let mut draws: Vec<_> = (0..100_000_u64)
            .map(|i| sample(think, (i << 1 | 1) * (u64::MAX / 200_000)).as_secs_f64())
            .collect();
        draws.sort_by(f64::total_cmp);
        draws
    }

    fn check_quantiles(think: Think, mean: f64, quantiles: &[(f64, f64)]) {
        let draws = grid(think);
        let found = draws.iter().sum::<f64>() / draws.len() as f64;
        assert!((found - mean).abs() < 0.003 * mean, "{think:?}: mean {found}, not {mean}");
        assert!((think.mean().as_secs_f64() - mean).abs() < 0.001 * mean, "{think:?}: {:?}", think.mean());
        // The times that a plan computes with are those that are drawn, except for the last bit of
        // a logarithm.
        let (shortest, longest) = (think.shortest().as_secs_f64(), think.longest().as_secs_f64());
        let within = draws[0] >= shortest - 1e-6 && draws[draws.len() - 1] <= longest + 1e-6;
        assert!(within, "{think:?}: not between {shortest} and {longest}");
        for &(share, expected) in quantiles {
            let found = draws[((draws.len() - 1) as f64 * share) as usize];
            assert!(
                (found - expected).abs() < 0.001 * expected.max(0.1),
                "{think:?} p{share}: {found} {expected}"
            );
        }
    }

    #[test]
    fn draws_have_the_quantiles_of_their_distribution() {
        check_quantiles(Think::Fixed(S(2)), 2.0, &[(0.0, 2.0), (1.0, 2.0)]);
        check_quantiles(Think::Even { from: S(1), to: S(3) }, 2.0, &[(0.0, 1.0), (0.25, 1.5), (1.0, 3.0)]);
        check_quantiles(Think::Exponential { mean: S(2) }, 2.0, &[(0.5, 1.386_294), (0.95, 5.991_465)]);
        let normal = Think::Normal { mean: S(2), deviation: Nanos::from_millis(500) };
        check_quantiles(normal, 2.0, &[(0.5, 2.0), (0.025, 1.020_018), (0.841_345, 2.5)]);
        let lognormal = Think::Lognormal { median: S(2), p95: S(8) };
        check_quantiles(
            lognormal,
            2.0 * (0.842_796_f64.powi(2) / 2.0).exp(),
            &[(0.5, 2.0), (0.95, 8.0), (0.05, 0.5)],
        );
    }

    #[test]
    fn ends_are_cut_and_nothing_leaves_its_range() {
        for word in [0, 1, 1 << 11, u64::MAX - 1, u64::MAX] {
            let draw = |think: Think| super::sample(think, word).0;
            assert!((1_000_000_000..=3_000_000_000).contains(&draw(Think::Even { from: S(1), to: S(3) })));
            assert!((0..=40_000_000_000).contains(&draw(Think::Exponential { mean: S(2) })));
            assert!((0..=7_000_000_000).contains(&draw(Think::Normal { mean: S(2), deviation: S(1) })));
            assert!(draw(Think::Lognormal { median: S(3600), p95: S(80_000) }) <= Think::LENGTH_MAX.0);
        }
        assert_eq!(sample(Think::Even { from: S(1), to: S(3) }, u64::MAX), S(3));
        assert_eq!(sample(Think::Even { from: S(1), to: S(3) }, 0), S(1));
    }

    /// These bits must never change: an old run can be repeated from its seed on any platform.
    #[test]
    fn a_word_always_means_the_same_length() {
        let word = 0x0123_4567_89ab_cdef;
        let draw = |think: Think| super::sample(think, word).0;
        assert_eq!(draw(Think::Exponential { mean: S(2) }), 10_832_200_804);
        assert_eq!(draw(Think::Normal { mean: S(2), deviation: Nanos::from_millis(500) }), 691_850_898);
        assert_eq!(draw(Think::Lognormal { median: S(2), p95: S(8) }), 220_493_382);
    }

    #[test]
    fn what_has_no_meaning_is_refused() {
        let check = |think: Think, word: &str| {
            let error = super::check(think).expect_err(word);
            assert!(error.message.contains(word), "{error}");
        };
        check(Think::Even { from: S(3), to: S(1) }, "reversed");
        check(Think::Lognormal { median: S(3), p95: S(1) }, "below its median");
        check(Think::Fixed(S(90_000)), "longer than a day");
        let fine = Think::Normal { mean: S(2), deviation: S(1) };
        assert_eq!(super::check(fine), Ok(fine));
    }
}
