//! Counts: bare or with `k`, `M`, `G`.

use super::decimal::{Decimal, leading, overflow, zero};
use crate::{Code, UserError};

const WHAT: &str = "a count";
const EXAMPLE: &str = "500, 10k or 1M";
/// Counts stay exact as 64-bit floats, which conditions compare.
const COUNT_MAX: u128 = 1 << 53;

/// The multiplier of a count's unit.
pub(super) fn multiplier(unit: &str) -> Option<u128> {
    match unit {
        "" => Some(1),
        "k" => Some(1_000),
        "M" => Some(1_000_000),
        "G" => Some(1_000_000_000),
        _ => None,
    }
}

/// Reads a count; zero is one. Fails with a hint on other units, fractions, negative and huge ones.
pub fn parse_count(text: &str) -> Result<u64, UserError> {
    let (number, unit) = leading(text, WHAT, EXAMPLE)?;
    let factor = multiplier(unit).ok_or_else(|| unit_unknown(text, unit, number))?;
    let count =
        number.times(factor).map_err(|large| if large { overflow(text, EXAMPLE) } else { fraction(text) })?;
    if count > COUNT_MAX {
        return Err(overflow(text, EXAMPLE));
    }
    Ok(u64::try_from(count).expect("COUNT_MAX fits"))
}

/// Reads a count above zero.
pub fn parse_count_positive(text: &str) -> Result<u64, UserError> {
    match parse_count(text)? {
        0 => Err(zero(text, WHAT, EXAMPLE)),
        count => Ok(count),
    }
}

/// The error of a unit that no count has.
pub(super) fn unit_unknown(text: &str, unit: &str, number: Decimal) -> UserError {
    let number = number.as_f64();
    let exponent = unit.strip_prefix(['e', 'E']).and_then(|power| power.parse::<i32>().ok());
    let hint = match (unit, exponent) {
        ("m", _) => format!("1m is one minute; 1M is a million: {number}M?"),
        ("K", _) => format!("{number}k"),
        ("g", _) => format!("{number}G"),
        (_, Some(power)) if (0..=15).contains(&power) => {
            let value = number * 10_f64.powi(power);
            match value {
                v if v >= 1e9 => format!("{}G", v / 1e9),
                v if v >= 1e6 => format!("{}M", v / 1e6),
                v if v >= 1e3 => format!("{}k", v / 1e3),
                v => format!("{v}"),
            }
        }
        _ if unit.contains('/') => {
            let own = unit.split('/').next().filter(|own| multiplier(own).is_some()).unwrap_or_default();
            format!("a count has no time in it: {number}{own}")
        }
        _ => format!("a count has no unit or ends in k, M or G: {EXAMPLE}"),
    };
    UserError::usage(Code::UnitUnknown, format!("`{text}`: `{unit}` is not a unit of a count"), hint)
}

fn fraction(text: &str) -> UserError {
    UserError::usage(
        Code::NotWhole,
        format!("`{text}` is not a whole number"),
        format!("a count is whole: {EXAMPLE}"),
    )
}
