//! The `grpc-timeout` field.

use wavetank_units::Nanos;

/// The most digits of a value.
const DIGITS_MAX: u32 = 8;

/// Returns the value of `grpc-timeout` for a deadline this far away: at most 8 digits and a unit,
/// rounded up.
pub fn timeout_text(timeout: Nanos) -> String {
    let nanos = timeout.0.max(0).cast_unsigned();
    let units = [("n", 1), ("u", 1_000), ("m", 1_000_000), ("S", 1_000_000_000), ("M", 60_000_000_000)];
    let fits = |(unit, length): (&'static str, u64)| {
        let count = nanos.div_ceil(length);
        (count < 10_u64.pow(DIGITS_MAX)).then(|| format!("{count}{unit}"))
    };
    units.into_iter().find_map(fits).unwrap_or_else(|| format!("{}H", nanos.div_ceil(3_600_000_000_000)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_at_most_eight_digits() {
        let check = |timeout: Nanos, expected: &str| assert_eq!(timeout_text(timeout), expected);
        check(Nanos(0), "0n");
        check(Nanos(99_999_999), "99999999n");
        check(Nanos(100_000_000), "100000u");
        check(Nanos::from_secs(60), "60000000u");
        check(Nanos::from_secs(3_600), "3600000m");
        check(Nanos(100_000_000_001), "100001m");
        check(Nanos::from_secs(1_000_000_000), "16666667M");
        check(Nanos(i64::MAX), "2562048H");
    }
}
