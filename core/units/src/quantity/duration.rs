//! Durations: `250ms`, `1.5s`, `1m30s`, in `us ms s m h d`.

use super::decimal::{leading, overflow, zero};
use crate::{Code, Nanos, UserError};

const WHAT: &str = "a duration";
const EXAMPLE: &str = "30s, 250ms or 1m30s";
/// Ten years: sums of several durations stay inside 64 bits of nanoseconds.
const LENGTH_MAX_NS: u128 = 10 * 365 * 86_400 * 1_000_000_000;

/// Units from long to short, with their nanoseconds.
const UNITS: [(&str, u128); 6] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
];

/// Parses a duration; zero is allowed. Fails with a hint on missing and wrong units, and on
/// negative and too large values.
pub fn parse_duration(text: &str) -> Result<Nanos, UserError> {
    let mut rest = text.trim();
    let mut total: u128 = 0;
    let mut units_left = &UNITS[..];
    loop {
        let (number, tail) = leading(rest, WHAT, EXAMPLE).map_err(|error| whole(error, rest, text))?;
        let end =
            tail.find(|c: char| c.is_ascii_digit() || c.is_whitespace() || c == '.').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(end);
        if unit.is_empty() {
            return Err(unit_missing(text, number.as_f64()));
        }
        let unit = if matches!(unit, "µs" | "μs") { "us" } else { unit };
        let Some(place) = UNITS.iter().position(|(name, _)| *name == unit) else {
            return Err(unit_unknown(text, unit, number.as_f64()));
        };
        let used = UNITS.len() - units_left.len();
        if place < used {
            let hint = "from the longest to the shortest: 1h30m, 1m30s";
            return Err(UserError::usage(
                Code::UnitOrder,
                format!("`{text}`: {unit} comes after a shorter unit"),
                hint,
            ));
        }
        units_left = &UNITS[place + 1..];
        let part = number
            .times(UNITS[place].1)
            .map_err(|large| if large { overflow(text, EXAMPLE) } else { finer(text) })?;
        total = total.checked_add(part).filter(|sum| *sum <= LENGTH_MAX_NS).ok_or_else(|| too_long(text))?;
        rest = tail.trim_start();
        if rest.is_empty() {
            return Ok(Nanos(i64::try_from(total).expect("checked against LENGTH_MAX_NS")));
        }
    }
}

/// Reads a duration above zero.
pub fn parse_duration_positive(text: &str) -> Result<Nanos, UserError> {
    match parse_duration(text)? {
        Nanos::ZERO => Err(zero(text, WHAT, EXAMPLE)),
        length => Ok(length),
    }
}

/// Changes an error about a part so that it names the whole text.
fn whole(error: UserError, part: &str, text: &str) -> UserError {
    let message = error.message.replace(&format!("`{part}`"), &format!("`{text}`"));
    UserError { message, ..error }
}

fn unit_missing(text: &str, number: f64) -> UserError {
    let hint = if number >= 1000.0 {
        format!("{}s = {text}ms? (JMeter means milliseconds; wrk and ab seconds)", number / 1000.0)
    } else {
        format!("{text}s? (wrk and ab mean seconds)")
    };
    UserError::usage(Code::UnitMissing, format!("`{text}`: a duration needs a unit"), hint)
}

fn unit_unknown(text: &str, unit: &str, number: f64) -> UserError {
    let hint = match unit {
        "M" => format!("M is a million; {number}m is {number} minutes"),
        "ns" => "the shortest unit is us; 1000 ns are 1us".to_owned(),
        _ => match unit.to_ascii_lowercase().as_str() {
            "s" | "sec" | "secs" | "second" | "seconds" => format!("{number}s"),
            "min" | "mins" | "minute" | "minutes" => format!("{number}m"),
            "h" | "hr" | "hrs" | "hour" | "hours" => format!("{number}h"),
            "d" | "day" | "days" => format!("{number}d"),
            "w" | "week" | "weeks" => format!("{}d", number * 7.0),
            "ms" | "msec" | "millis" | "milliseconds" => format!("{number}ms"),
            "us" | "usec" | "micros" | "microseconds" => format!("{number}us"),
            _ => format!("a duration ends in us, ms, s, m, h or d: {EXAMPLE}"),
        },
    };
    UserError::usage(Code::UnitUnknown, format!("`{text}`: `{unit}` is not a unit of time"), hint)
}

fn finer(text: &str) -> UserError {
    UserError::usage(
        Code::NotWhole,
        format!("`{text}` is finer than a nanosecond"),
        "the shortest unit is us: 1.5us",
    )
}

fn too_long(text: &str) -> UserError {
    UserError::usage(
        Code::Overflow,
        format!("`{text}` is longer than ten years"),
        format!("for example {EXAMPLE}"),
    )
}
