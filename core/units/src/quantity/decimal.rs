//! [`Decimal`]: a number as written, exact.

use crate::{Code, UserError};

/// `digits / 10^places`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    digits: u128,
    places: u32,
}

/// More digits than any quantity needs; keeps the arithmetic below inside 128 bits.
const DIGITS_MAX: usize = 19;

impl Decimal {
    /// Returns the number times `factor` if the product is whole and fits. `Err(false)`: not whole,
    /// `Err(true)`: too large.
    pub(super) fn times(self, factor: u128) -> Result<u128, bool> {
        let scale = 10_u128.pow(self.places);
        let product = self.digits.checked_mul(factor).ok_or(true)?;
        if product % scale == 0 { Ok(product / scale) } else { Err(false) }
    }

    /// The number times `factor` as a fraction in lowest terms (numerator, denominator).
    pub(super) fn fraction(self, factor: u128) -> Option<(u128, u128)> {
        let numerator = self.digits.checked_mul(factor)?;
        let denominator = 10_u128.pow(self.places);
        let divisor = gcd(numerator, denominator);
        Some((numerator / divisor, denominator / divisor))
    }

    /// The nearest floating-point number, for shares and hints.
    pub(super) fn as_f64(self) -> f64 {
        self.digits as f64 / 10_f64.powi(self.places as i32)
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

/// Splits a number off the front of `text`; the rest starts with the unit. `what` names the
/// quantity in errors, e.g. "a duration".
pub(super) fn leading<'t>(text: &'t str, what: &str, example: &str) -> Result<(Decimal, &'t str), UserError> {
    let trimmed = text.trim_start();
    if trimmed.starts_with(['-', '−']) {
        let hint = format!("{what} cannot be negative, for example {example}");
        return Err(UserError::usage(Code::Negative, format!("`{text}` is negative"), hint));
    }
    let end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, rest) = trimmed.split_at(end);
    let separated =
        rest.strip_prefix([',', '_']).is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit()));
    if separated && !number.is_empty() {
        let joined = trimmed.replace([',', '_'], "");
        let hint = format!("digits without separators, a point for decimals: {joined}");
        return Err(UserError::usage(Code::NotANumber, format!("`{text}` contains a separator"), hint));
    }
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let shaped = !number.is_empty() && !number.ends_with('.') && !whole.is_empty() && !decimals.contains('.');
    if !shaped {
        let hint = format!("{what} looks like {example}");
        return Err(UserError::usage(Code::NotANumber, format!("`{text}` is not {what}"), hint));
    }
    let decimals = decimals.trim_end_matches('0');
    let digits: String = format!("{whole}{decimals}");
    let digits = digits.trim_start_matches('0');
    if digits.len() > DIGITS_MAX {
        return Err(overflow(text, example));
    }
    let places = u32::try_from(decimals.len()).map_err(|_| overflow(text, example))?;
    if places > DIGITS_MAX as u32 {
        return Err(overflow(text, example));
    }
    let digits = if digits.is_empty() { 0 } else { digits.parse().map_err(|_| overflow(text, example))? };
    Ok((Decimal { digits, places }, rest.trim_start()))
}

/// The error of a number that does not fit.
pub(super) fn overflow(text: &str, most: &str) -> UserError {
    UserError::usage(Code::Overflow, format!("`{text}` is out of range"), format!("for example {most}"))
}

/// The error of a zero where zero is senseless.
pub(super) fn zero(text: &str, what: &str, example: &str) -> UserError {
    UserError::usage(
        Code::Zero,
        format!("`{text}`: {what} of zero is not allowed here"),
        format!("more than zero: {example}"),
    )
}
