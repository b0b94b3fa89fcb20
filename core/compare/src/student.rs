//! Student's t distribution: the error of an estimate if its spread was also estimated from few
//! runs.
//!
//! It uses the regularised incomplete beta function as a continued fraction (Abramowitz and Stegun
//! 26.5.8 and 26.7.1). The functions of `libm` give the same bits on every machine, and with them
//! the same comparison.

/// Above this, t equals the normal distribution for our purposes, and the continued fraction would
/// only get slower.
const FREEDOM_MAX: f64 = 1e5;
/// Steps of the continued fraction at most; it needs fewer than 200 for any `FREEDOM_MAX`.
const STEPS_MAX: u32 = 2_000;

/// Returns the chance of |T| ≥ |t| with `freedom` degrees of freedom, 0 to 1. `freedom` is any
/// positive number.
pub(crate) fn two_sided(t: f64, freedom: f64) -> f64 {
    let freedom = freedom.clamp(1e-3, FREEDOM_MAX);
    if !t.is_finite() {
        return 0.0;
    }
    incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t))
}

/// The t that |T| exceeds with chance `p`: `two_sided(critical(p, f), f) = p`. `p` in (0, 1).
pub(crate) fn critical(p: f64, freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while two_sided(high, freedom) > p && high < 1e15 {
        low = high;
        high *= 2.0;
    }
    // The distribution is monotone, so bisection finds the value to the last bits. This is not
    // called often.
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if two_sided(middle, freedom) > p {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// Regularised incomplete beta function `I_x(a, b)`.
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front = libm::exp(
        libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * libm::log(x) + b * libm::log1p(-x),
    );
    // The fraction converges fast on one side of the mean; the other side is its complement.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(a, b, x) / a
    } else {
        1.0 - front * fraction(b, a, 1.0 - x) / b
    }
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let away_from_zero = |x: f64| if x.abs() < 1e-300 { 1e-300 } else { x };
    let mut above = 1.0;
    let mut below = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut result = below;
    for step in (1..=STEPS_MAX).map(f64::from) {
        let even = step * (b - step) * x / ((a + 2.0 * step - 1.0) * (a + 2.0 * step));
        let odd = -(a + step) * (a + b + step) * x / ((a + 2.0 * step) * (a + 2.0 * step + 1.0));
        for term in [even, odd] {
            below = 1.0 / away_from_zero(1.0 + term * below);
            above = away_from_zero(1.0 + term / above);
            result *= above * below;
        }
        if (above * below - 1.0).abs() < 1e-15 {
            break;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the tables of any textbook.
    #[test]
    fn agrees_with_published_tables() {
        let check = |p: f64, freedom: f64, t: f64| {
            let found = critical(p, freedom);
            assert!((found / t - 1.0).abs() < 2e-4, "p {p}, freedom {freedom}: {found}, not {t}");
            assert!((two_sided(t, freedom) / p - 1.0).abs() < 2e-3, "{}", two_sided(t, freedom));
        };
        check(0.05, 1.0, 12.706);
        check(0.05, 2.0, 4.3027);
        check(0.05, 4.0, 2.7764);
        check(0.05, 8.0, 2.3060);
        check(0.01, 4.0, 4.6041);
        check(0.01, 30.0, 2.7500);
        check(0.001, 8.0, 5.0413);
        check(0.05, 1e9, 1.95996);
        check(0.5, 1.0, 1.0);
    }

    #[test]
    fn ends_are_what_they_must_be() {
        assert!((two_sided(0.0, 3.0) - 1.0).abs() < 1e-15);
        assert!(two_sided(f64::INFINITY, 3.0) < 1e-300);
        assert!(two_sided(1e6, 1.0) < 1e-6 && two_sided(1e6, 1.0) > 0.0);
        let mut last = 1.0;
        for step in 0..200 {
            let p = two_sided(f64::from(step) * 0.1, 2.5);
            assert!(p <= last, "not monotone at {step}");
            last = p;
        }
    }
}
