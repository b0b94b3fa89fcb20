//! Parts of messages that several checks share.

use wavetank_grammar::{Diagnostic, Span};
use wavetank_units::quantity::format_grouped;
use wavetank_units::{Code, did_you_mean};

/// Formats a number with all digits, in groups of three, so that it can be compared with a file's
/// rows.
pub(super) fn digits(count: f64) -> String {
    format_grouped(count.round() as u64)
}

/// Reports a name that is not defined.
pub(super) fn unknown<'k>(
    code: Code,
    what: &str,
    name: &str,
    place: Span,
    known: impl Iterator<Item = &'k str> + Clone,
) -> Diagnostic {
    // A term of two letters resembles nothing by its letters alone: `by` for buy.
    let near =
        did_you_mean(name, known.clone()).or_else(|| known.clone().find(|own| one_letter_short(name, own)));
    let some: Vec<&str> = known.take(20).collect();
    let hint = match near {
        Some(near) => format!("did you mean {near}?"),
        None if some.is_empty() => format!("the file has no {what}"),
        None => format!("there is: {}", some.join(", ")),
    };
    Diagnostic::error(code, place, format!("no {what} \"{name}\""), hint)
}

/// Whether `short` is `long` without one of its letters.
fn one_letter_short(short: &str, long: &str) -> bool {
    let mut rest = long.chars();
    short.len() >= 2
        && long.chars().count() == short.chars().count() + 1
        && short.chars().all(|letter| rest.any(|own| own == letter))
}
