//! Pieces of SVG text: escaping and numbers.

/// Escapes `text` for an element or a quoted attribute. Names come from outside, so control
/// characters and characters that change the writing direction are replaced.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => {
                out.push('\u{fffd}');
            }
            letter if letter.is_control() => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

/// A coordinate with at most one decimal.
pub(super) fn num(value: f64) -> String {
    debug_assert!(value.is_finite(), "coordinates are finite");
    let tenths = (value * 10.0).round() as i64;
    match tenths % 10 {
        0 => (tenths / 10).to_string(),
        _ => format!("{}{}.{}", if tenths < 0 { "-" } else { "" }, tenths.abs() / 10, tenths.abs() % 10),
    }
}

/// A place across the plot, 0 to 1, as a percentage.
pub(super) fn percent(share: f64) -> String {
    let text = format!("{:.2}", share * 100.0);
    let text = wavetank_units::quantity::trimmed(&text);
    format!("{}%", if text == "-0" { "0" } else { text })
}

/// The name of an element: letters, digits, `-` and `_` of `id`.
pub(super) fn id(id: &str) -> String {
    id.chars().filter(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_markup() {
        assert_eq!(
            escape("</svg><script a=\"1\" b='2'>&\u{1b}[31m\u{202e}日本"),
            "&lt;/svg&gt;&lt;script a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;\u{fffd}[31m\u{fffd}日本"
        );
        assert_eq!(id("a b\"c-1_2<"), "abc-1_2");
    }

    #[test]
    fn coordinates_are_short() {
        for (value, expected) in
            [(0.0, "0"), (-0.04, "0"), (12.34, "12.3"), (12.96, "13"), (-0.26, "-0.3"), (1000.0, "1000")]
        {
            assert_eq!(num(value), expected);
        }
        assert_eq!(percent(0.123_456_7), "12.35%");
        assert_eq!(percent(1.0), "100%");
        assert_eq!(percent(-1e-9), "0%");
    }
}
