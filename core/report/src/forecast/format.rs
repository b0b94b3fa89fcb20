//! Amounts and lists as text.

use wavetank_record::{AmountDoc, Number};
use wavetank_units::Nanos;
use wavetank_units::quantity::{format_grouped, show_clock};

/// `1,000`, `about 4,800`, `1 to 5`, `at least 50`.
pub(super) fn amount(amount: &AmountDoc) -> String {
    match (amount.expected, amount.most) {
        _ if amount.is_exact() => format_grouped(amount.least),
        (Some(expected), _) => format!("about {}", format_grouped(expected)),
        (None, Some(most)) if amount.least == 0 => format!("at most {}", format_grouped(most)),
        (None, Some(most)) => format!("{} to {}", format_grouped(amount.least), format_grouped(most)),
        (None, None) if amount.least == 0 => "any number of".to_owned(),
        (None, None) => format!("at least {}", format_grouped(amount.least)),
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
