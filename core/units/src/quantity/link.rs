//! Links: `10Gbit/s`, `500 Mbit/s`, in bits per second.

use super::decimal::{leading, overflow};
use crate::{Code, UserError};

const WHAT: &str = "a link's rate";
const EXAMPLE: &str = "500Mbit/s or 10Gbit/s";

/// Parses a data rate in bits per second. Fails with a hint on missing and wrong units, including
/// bytes.
pub fn parse_link(text: &str) -> Result<u64, UserError> {
    let (number, unit) = leading(text, WHAT, EXAMPLE)?;
    let factor: u128 = match unit {
        "kbit/s" => 1_000,
        "Mbit/s" => 1_000_000,
        "Gbit/s" => 1_000_000_000,
        _ => return Err(unit_unknown(text, unit, number.as_f64())),
    };
    let bits = number.times(factor).map_err(|_| overflow(text, EXAMPLE))?;
    u64::try_from(bits).map_err(|_| overflow(text, EXAMPLE))
}

fn unit_unknown(text: &str, unit: &str, number: f64) -> UserError {
    let hint = match unit {
        "GB" | "GB/s" | "GiB/s" => {
            format!("GB is gigabytes; {number}Gbit/s? {number} GB/s are {}Gbit/s", number * 8.0)
        }
        "MB" | "MB/s" | "MiB/s" => {
            format!("MB is megabytes; {number}Mbit/s? {number} MB/s are {}Mbit/s", number * 8.0)
        }
        "G" | "Gb" | "Gbit" | "Gbps" | "Gb/s" => format!("{number}Gbit/s"),
        "M" | "Mb" | "Mbit" | "Mbps" | "Mb/s" => format!("{number}Mbit/s"),
        _ => format!("{WHAT} looks like {EXAMPLE}"),
    };
    let (code, message) = match unit {
        "" => (Code::UnitMissing, format!("`{text}`: {WHAT} needs a unit")),
        _ => (Code::UnitUnknown, format!("`{text}`: `{unit}` is not a unit of a link")),
    };
    UserError::usage(code, message, hint)
}
