//! Rates: `500/s`, `5k/s`, `7/min`, `0.5/s`, kept as exact fractions.

use super::count::multiplier;
use super::decimal::{leading, overflow, zero};
use crate::{Code, Nanos, Rate, UserError};

const WHAT: &str = "a rate";
const EXAMPLE: &str = "500/s, 5k/s or 7/min";
/// A schedule resolves nanoseconds, so higher rates are refused.
const PER_SECOND_MAX: f64 = 1e9;

/// Parses a rate; `0/s` is allowed. Fails with a hint on missing and wrong units, and on negative
/// and too large values.
pub fn parse_rate(text: &str) -> Result<Rate, UserError> {
    let text = text.trim();
    let (number, tail) = leading(text, WHAT, EXAMPLE)?;
    let (unit, per) = match tail.split_once('/') {
        Some((unit, per)) => (unit.trim(), per.trim()),
        None => return Err(unit_missing(text, tail)),
    };
    let Some(factor) = multiplier(unit) else {
        let (digits, suffix) = (number.as_f64(), per_hint(per).unwrap_or("s"));
        let hint = match unit {
            "K" => format!("{digits}k/{suffix}"),
            "m" => format!("m is minutes; a million is {digits}M/{suffix}"),
            "req" | "reqs" | "requests" | "r" | "hits" => format!("{digits}/{suffix}"),
            _ => format!("a rate looks like {EXAMPLE}"),
        };
        return Err(UserError::usage(
            Code::UnitUnknown,
            format!("`{text}`: `{unit}` is not a unit of a rate"),
            hint,
        ));
    };
    let period_s: i64 = match per {
        "s" => 1,
        "min" => 60,
        "h" => 3_600,
        _ => return Err(per_unknown(text, &text[..text.len() - per.len()], per)),
    };
    let (count, parts) = number.fraction(factor).ok_or_else(|| overflow(text, EXAMPLE))?;
    let per_ns = i64::try_from(parts).ok().and_then(|parts| Nanos::from_secs(period_s).0.checked_mul(parts));
    let rate = u64::try_from(count).ok().zip(per_ns).map(|(count, per)| Rate { count, per: Nanos(per) });
    rate.filter(|rate| rate.as_per_second() <= PER_SECOND_MAX).ok_or_else(|| overflow(text, EXAMPLE))
}

/// Reads a rate above zero.
pub fn parse_rate_positive(text: &str) -> Result<Rate, UserError> {
    let rate = parse_rate(text)?;
    if rate.count == 0 { Err(zero(text, WHAT, EXAMPLE)) } else { Ok(rate) }
}

fn unit_missing(text: &str, tail: &str) -> UserError {
    let digits = &text[..text.len() - tail.len()].trim_end();
    let hint = match tail.trim() {
        "" | "k" | "M" | "G" => format!("{}/s? (the total of all threads)", text.replace(' ', "")),
        "rps" | "qps" | "tps" | "hz" | "Hz" => format!("{digits}/s"),
        "krps" | "kqps" | "K" => format!("{digits}k/s"),
        "rpm" => format!("{digits}/min"),
        "m" => format!("m is minutes; a million a second is {digits}M/s"),
        _ => format!("a rate looks like {EXAMPLE}"),
    };
    UserError::usage(Code::UnitMissing, format!("`{text}`: a rate needs a unit"), hint)
}

fn per_unknown(text: &str, before: &str, per: &str) -> UserError {
    let hint = match per_hint(per) {
        Some(unit) => format!("{}{unit}", before.trim_end()),
        None => format!("a rate is per s, min or h: {EXAMPLE}"),
    };
    UserError::usage(Code::UnitUnknown, format!("`{text}`: `/{per}` is not a unit of a rate"), hint)
}

fn per_hint(per: &str) -> Option<&'static str> {
    match per.to_ascii_lowercase().as_str() {
        "" | "s" | "sec" | "second" | "1s" => Some("s"),
        "m" | "min" | "minute" | "1m" => Some("min"),
        "h" | "hr" | "hour" | "1h" => Some("h"),
        _ => None,
    }
}
