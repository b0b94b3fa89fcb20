//! Amounts and lists as text.

use wavetank_plan::Nanos;
use wavetank_plan::quantity::{format_compact, format_grouped, show_clock, show_count, show_rate};
use wavetank_record::{AmountDoc, Number};

/// Below this every digit is shown.
const WHOLE_MAX: u64 = 10_000_000;

/// `4,800`; from ten million on three digits: `48.0 G`.
pub(super) fn count(count: u64) -> String {
    if count < WHOLE_MAX { format_grouped(count) } else { show_count(count) }
}

/// A rate as in a file if that is exact, `10k/s`; otherwise with three digits.
pub(crate) fn rate(per_second: f64) -> String {
    let whole = per_second.round();
    let exact = (per_second - whole).abs() < 1e-9 && (1.0..1e15).contains(&whole);
    if exact && (whole < 1_000.0 || (whole as u64).is_multiple_of(10)) {
        return format!("{}/s", format_compact(whole as u64));
    }
    show_rate(per_second)
}

/// The same without its `/s`.
pub(super) fn bare_rate(per_second: f64) -> String {
    let text = rate(per_second);
    text.strip_suffix("/s").map_or(text.clone(), str::to_owned)
}

/// `1,000`, `about 4,800`, `1 to 5`, `at least 50`.
pub(super) fn amount(amount: &AmountDoc) -> String {
    match (amount.expected, amount.most) {
        _ if amount.is_exact() => count(amount.least),
        (Some(expected), _) => format!("about {}", count(expected)),
        (None, Some(most)) if amount.least == 0 => format!("at most {}", count(most)),
        (None, Some(most)) => format!("{} to {}", count(amount.least), count(most)),
        (None, None) if amount.least == 0 => "any number of".to_owned(),
        (None, None) => format!("at least {}", count(amount.least)),
    }
}

/// `1 session`, `5 sessions`; `many` names more than one.
pub(super) fn counted(doc: &AmountDoc, one: &str, many: &str) -> String {
    let single = doc.is_exact() && doc.least == 1;
    format!("{} {}", amount(doc), if single { one } else { many })
}

/// Seconds on the run's clock.
pub(super) fn clock(seconds: Number) -> String {
    show_clock(Nanos((seconds.0 * 1e9).round() as i64))
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
