//! The right-hand side of a condition, checked against its subject.

use wavetank_units::quantity::{
    parse_count, parse_duration, parse_link, parse_rate, parse_share, parse_size,
};
use wavetank_units::{Code, Nanos, UserError};

use super::value_kind::ValueKind;
use super::{Op, Value};

/// Reads the value of a subject of kind `kind`.
pub(super) fn parse_value(text: &str, kind: ValueKind, op: Op) -> Result<Value, UserError> {
    if text.is_empty() {
        let hint = format!("for example {}", example(kind));
        return Err(UserError::usage(Code::ConditionValue, "nothing follows the comparison", hint));
    }
    if text.contains(" to ") || text.contains(" or ") {
        let hint = "write one condition for each side; all of them must pass";
        return Err(UserError::usage(Code::ConditionValue, format!("`{text}` is more than one value"), hint));
    }
    let share = text.ends_with('%');
    let rate = text.contains('/');
    let value = match kind {
        ValueKind::Time if share || rate => return Err(misfit(text, "a time", kind)),
        ValueKind::Time => Value::Time(parse_duration(text).map_err(|error| with_unit(text, error))?),
        ValueKind::Rate if share => return Err(misfit(text, "a rate", kind)),
        ValueKind::Rate => Value::PerSecond(parse_rate(text)?.as_per_second()),
        ValueKind::Count | ValueKind::CountOrShare if rate => {
            let hint = "rates are compared with done_rate, failed_rate, …: done_rate > 1k/s";
            return Err(UserError::usage(
                Code::ConditionValue,
                format!("`{text}` is a rate, but this is a count"),
                hint,
            ));
        }
        ValueKind::Count if share => return Err(misfit(text, "a count", kind)),
        ValueKind::CountOrShare | ValueKind::Share | ValueKind::BytesOrShare if share => {
            Value::Share(parse_share(text)?)
        }
        ValueKind::Count | ValueKind::CountOrShare => Value::Count(parse_count(text)? as f64),
        ValueKind::Share => return Err(misfit(text, "a share", kind)),
        // Zero is zero in every unit: `swap(lb1) = 0`.
        ValueKind::BytesOrShare if text == "0" => Value::Bytes(0.0),
        ValueKind::BytesOrShare => Value::Bytes(parse_size(text)? as f64),
        ValueKind::Link => Value::BitsPerSecond(parse_link(text)? as f64),
    };
    let zero = match value {
        Value::Time(length) => length == Nanos::ZERO,
        Value::Count(number)
        | Value::PerSecond(number)
        | Value::Share(number)
        | Value::Bytes(number)
        | Value::BitsPerSecond(number) => number <= 0.0,
    };
    if zero && op == Op::Less {
        let hint = "nothing is below zero: use = 0 for none";
        return Err(UserError::usage(Code::ConditionValue, format!("`< {text}` can never be true"), hint));
    }
    Ok(value)
}

fn example(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Time => "250ms",
        ValueKind::CountOrShare => "1% or 100",
        ValueKind::Count => "10k",
        ValueKind::Rate => "1k/s",
        ValueKind::Share => "96%",
        ValueKind::BytesOrShare => "12GB or 80%",
        ValueKind::Link => "8Gbit/s",
    }
}

fn misfit(text: &str, what: &str, kind: ValueKind) -> UserError {
    let message = format!("`{text}` is not {what}");
    UserError::usage(Code::ConditionValue, message, format!("for example {}", example(kind)))
}

/// Times of answers are milliseconds more often than seconds: both are offered.
fn with_unit(text: &str, error: UserError) -> UserError {
    if error.code == Code::UnitMissing {
        return UserError { hint: format!("{text}ms? or {text}s?"), ..error };
    }
    error
}
