//! Shares: `1%`, `0.01%`.

use super::decimal::leading;
use crate::UserError;

const EXAMPLE: &str = "1% or 0.01%";

/// Reads a share: `1%` is 0.01. Fails with a hint without `%`, on negative ones and above 100 %.
pub fn parse_share(text: &str) -> Result<f64, UserError> {
    let (number, unit) = leading(text, "a share", EXAMPLE)?;
    if unit != "%" {
        let hint = format!("{}%?", number.as_f64());
        return Err(UserError::usage("unit_missing", format!("`{text}`: a share ends in %"), hint));
    }
    if number.as_f64() > 100.0 {
        let hint = format!("a share is 0% to 100%, for example {EXAMPLE}");
        return Err(UserError::usage("overflow", format!("`{text}` is more than everything"), hint));
    }
    Ok(number.as_f64() / 100.0)
}
