//! Durations and rates as exact text. The three digits of a report would not give the plan back.

use wavetank_units::{Nanos, Rate};

use crate::DecodeError;

/// Units from long to short, with their nanoseconds.
const UNITS: [(&str, i64); 4] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];
/// Names of the usual lengths of a rate.
const PERIODS: [(&str, Nanos); 3] =
    [("s", Nanos::SECOND), ("min", Nanos::from_secs(60)), ("h", Nanos::from_secs(3600))];

/// The longest unit that gives a whole number: `60s`, `250ms`, `-5s`.
pub(crate) fn exact_duration(length: Nanos) -> String {
    let (unit, ns) = UNITS.into_iter().find(|&(_, ns)| length.0 % ns == 0).unwrap_or(UNITS[3]);
    format!("{}{unit}", length.0 / ns)
}

pub(crate) fn read_duration(text: &str) -> Result<Nanos, DecodeError> {
    let unit_at = text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let ns = UNITS.into_iter().find(|&(name, _)| name == unit).map(|(_, ns)| ns);
    let length = ns.and_then(|ns| number.parse::<i64>().ok()?.checked_mul(ns));
    length.map(Nanos).ok_or_else(|| DecodeError::new(format!("`{text}` is not a length of time")))
}

/// `5000/s`, `3/min`, `7/250ms`.
pub(crate) fn exact_rate(rate: Rate) -> String {
    let period = PERIODS.into_iter().find(|&(_, per)| per == rate.per);
    let per = period.map_or_else(|| exact_duration(rate.per), |(name, _)| name.to_owned());
    format!("{}/{per}", rate.count)
}

pub(crate) fn read_rate(text: &str) -> Result<Rate, DecodeError> {
    let bad = || DecodeError::new(format!("`{text}` is not a rate"));
    let (count, per) = text.split_once('/').ok_or_else(bad)?;
    let period = PERIODS.into_iter().find(|&(name, _)| name == per);
    let per = period.map_or_else(|| read_duration(per), |(_, per)| Ok(per))?;
    let count = count.parse().map_err(|_| bad())?;
    if per > Nanos::ZERO { Ok(Rate { count, per }) } else { Err(bad()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(length: Nanos, text: &str) {
        assert_eq!(exact_duration(length), text);
        assert_eq!(read_duration(text), Ok(length));
    }

    #[test]
    fn durations_come_back_exactly() {
        check(Nanos::ZERO, "0s");
        check(Nanos::from_secs(60), "60s");
        check(Nanos::from_secs(-5), "-5s");
        check(Nanos::from_millis(1_500), "1500ms");
        check(Nanos(1), "1ns");
        check(Nanos::MAX, "9223372036854775807ns");
        for bad in ["", "s", "5", "5 s", "99999999999s", "1.5s", "--1s", "µs"] {
            assert!(read_duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn rates_come_back_exactly() {
        for (rate, text) in [
            (Rate::per_second(5_000), "5000/s"),
            (Rate { count: 3, per: Nanos::from_secs(60) }, "3/min"),
            (Rate { count: 7, per: Nanos::from_millis(250) }, "7/250ms"),
            (Rate { count: 0, per: Nanos::SECOND }, "0/s"),
        ] {
            assert_eq!(exact_rate(rate), text);
            assert_eq!(read_rate(text), Ok(rate));
        }
        for bad in ["", "5", "5/", "/s", "5/0s", "5/-1s", "-5/s", "5/s/s"] {
            assert!(read_rate(bad).is_err(), "{bad}");
        }
    }
}
