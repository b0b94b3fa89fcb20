//! Sizes: `B kB KiB MB MiB GB GiB`.

use super::decimal::{leading, overflow};
use crate::{Code, UserError};

const WHAT: &str = "a size";
const EXAMPLE: &str = "512B, 16kB or 1MiB";

/// Reads a size in bytes; zero is one. Fails with a hint on missing and wrong units and on bits.
pub fn parse_size(text: &str) -> Result<u64, UserError> {
    let (number, unit) = leading(text, WHAT, EXAMPLE)?;
    let factor: u128 = match unit {
        "B" => 1,
        "kB" => 1_000,
        "KiB" => 1 << 10,
        "MB" => 1_000_000,
        "MiB" => 1 << 20,
        "GB" => 1_000_000_000,
        "GiB" => 1 << 30,
        _ => return Err(unit_unknown(text, unit, number.as_f64())),
    };
    let bytes =
        number.times(factor).map_err(|large| if large { overflow(text, EXAMPLE) } else { fraction(text) })?;
    u64::try_from(bytes).map_err(|_| overflow(text, EXAMPLE))
}

fn unit_unknown(text: &str, unit: &str, number: f64) -> UserError {
    let (code, message) = if unit.is_empty() {
        (Code::UnitMissing, format!("`{text}`: a size needs a unit"))
    } else {
        (Code::UnitUnknown, format!("`{text}`: `{unit}` is not a unit of a size"))
    };
    let hint = match unit {
        "" => format!("{number}B? or kB, KiB, MB, MiB, GB, GiB"),
        "Gb" => "Gb is gigabit; GB?".to_owned(),
        "Mb" => "Mb is megabit; MB?".to_owned(),
        "kb" | "Kb" => "kb is kilobit; kB?".to_owned(),
        "k" | "K" | "KB" => format!("{number}kB"),
        "m" | "M" | "mb" => format!("{number}MB"),
        "g" | "G" | "gb" => format!("{number}GB"),
        "b" => format!("{number}B"),
        _ => format!("a size ends in B, kB, KiB, MB, MiB, GB or GiB: {EXAMPLE}"),
    };
    UserError::usage(code, message, hint)
}

fn fraction(text: &str) -> UserError {
    UserError::usage(
        Code::NotWhole,
        format!("`{text}` is not a whole number of bytes"),
        format!("for example {EXAMPLE}"),
    )
}
