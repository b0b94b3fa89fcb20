//! Converts a level of load to the terms of a plan.

use wavetank_plan::constants::UNCERTAIN_BELOW;
use wavetank_plan::{Condition, Subject};
use wavetank_units::{Nanos, Rate};

/// Maximum number of decimals of a rate.
const DECIMALS_MAX: u32 = 6;
/// Factor on the minimum number of samples, so that a few late requests do not make a percentile
/// uncertain.
const SAMPLES_SPARE: f64 = 1.1;

/// Returns `level` arrivals per second as an exact rate. Levels have four significant digits.
pub fn level_rate(level: f64) -> Rate {
    let whole = |decimals: &u32| {
        let scaled = level * 10_f64.powi(*decimals as i32);
        (scaled - scaled.round()).abs() < 1e-6
    };
    let decimals = (0..DECIMALS_MAX).find(whole).unwrap_or(DECIMALS_MAX);
    let parts = 10_i64.pow(decimals);
    Rate { count: (level * parts as f64).round() as u64, per: Nanos::from_secs(parts) }
}

/// Returns the length of a run at `rate` requests per second for which the percentiles of
/// `conditions` are certain.
pub(super) fn length_for(conditions: &[Condition], rate: f64) -> Nanos {
    let samples = conditions.iter().filter_map(|condition| match condition.subject {
        Subject::Percentile(q, ..) => Some(UNCERTAIN_BELOW as f64 / (1.0 - q / 100.0).max(1e-6)),
        _ => None,
    });
    let most = samples.fold(0.0, f64::max) * SAMPLES_SPARE;
    // Rounded up to tenths of a second, so that the printed length is exact.
    Nanos::from_millis((most / rate * 10.0).ceil() as i64 * 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_exact() {
        let check = |level: f64, count: u64, seconds: i64| {
            assert_eq!(level_rate(level), Rate { count, per: Nanos::from_secs(seconds) }, "{level}");
        };
        check(2_480.0, 2_480, 1);
        check(133.3, 1_333, 10);
        check(0.1235, 1_235, 10_000);
        check(1_235_000.0, 1_235_000, 1);
    }

    #[test]
    fn a_percentile_needs_its_samples() {
        let condition = |text: &str| Condition::parse(text).expect("a condition");
        let conditions = [condition("p99 < 50ms"), condition("failed < 1%")];
        assert_eq!(length_for(&conditions, 100.0), Nanos::from_secs(11));
        assert_eq!(length_for(&conditions, 10_000.0), Nanos::from_millis(200));
        assert_eq!(length_for(&conditions[1..], 1.0), Nanos::ZERO);
    }
}
