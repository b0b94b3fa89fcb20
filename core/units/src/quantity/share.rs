//! Shares: `1%`, `0.01%`.

use super::decimal::leading;
use crate::{Code, UserError};

const EXAMPLE: &str = "1% or 0.01%";

/// Reads a share: `1%` is 0.01. Fails with a hint without `%`, on negative ones and above 100 %.
pub fn parse_share(text: &str) -> Result<f64, UserError> {
    let (number, unit) = leading(text, "a share", EXAMPLE)?;
    if unit != "%" {
        // `1e400` is no 1 %, and 150 % would be refused as well.
        let meant = number.as_f64() <= 100.0 && !unit.contains(|c: char| c.is_ascii_digit());
        let hint =
            if meant { format!("{}%?", number.as_f64()) } else { format!("a share looks like {EXAMPLE}") };
        return Err(UserError::usage(Code::UnitMissing, format!("`{text}`: a share ends in %"), hint));
    }
    if number.as_f64() > 100.0 {
        let hint = format!("a share is 0% to 100%, for example {EXAMPLE}");
        return Err(UserError::usage(Code::Overflow, format!("`{text}` is more than 100%"), hint));
    }
    Ok(number.as_f64() / 100.0)
}
