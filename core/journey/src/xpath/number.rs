//! Numbers and texts (XPath 1.0 §4.2, §4.4).

/// `string()` of a number: no exponent, no `.0`.
pub(super) fn number_text(number: f64) -> String {
    if number.is_nan() {
        "NaN".to_owned()
    } else if number.is_infinite() {
        if number > 0.0 { "Infinity".to_owned() } else { "-Infinity".to_owned() }
    } else if number == 0.0 {
        "0".to_owned()
    } else {
        number.to_string()
    }
}

/// `number()` of a text: digits with at most one minus and one point; everything else is NaN.
pub(super) fn text_number(text: &str) -> f64 {
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if plain { text.parse().unwrap_or(f64::NAN) } else { f64::NAN }
}

/// `round()`: halves are rounded up, also below zero.
pub(super) fn round(number: f64) -> f64 {
    let rounded = (number + 0.5).floor();
    // If adding a half is itself rounded, the number has no fraction or is the last one below a
    // half.
    if (rounded - number).abs() > 0.5 { number.floor() } else { rounded }
}
