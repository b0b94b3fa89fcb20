//! Times of `HAProxy`: milliseconds unless a unit follows.

/// Reads a time in milliseconds, and whether it has a unit. `None` if it is none.
pub(super) fn milliseconds(text: &str) -> Option<(f64, bool)> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let number: f64 = text[..digits].parse().ok()?;
    let factor = match &text[digits..] {
        "" => return Some((number, false)),
        "us" => 0.001,
        "ms" => 1.0,
        "s" => 1_000.0,
        "m" => 60_000.0,
        "h" => 3_600_000.0,
        "d" => 86_400_000.0,
        _ => return None,
    };
    Some((number * factor, true))
}
