//! Checks between parts of a file that are each valid.

mod blocks;
mod data;
mod delay_paths;
mod inverted_conditions;
mod limits;
mod load;
mod meeting;
mod names;
mod reachability;
mod scenarios;
mod totals;
mod variables;

pub use data::{DataFacts, verify_data};

use wavetank_plan::did_you_mean;
use wavetank_plan::quantity::format_grouped;

use crate::{Diagnostic, Diagnostics, Experiment, Span};

/// Runs all checks.
pub(crate) fn verify(experiment: &Experiment, out: &mut Diagnostics) {
    if !limits::verify(experiment, out) {
        return;
    }
    blocks::verify(experiment, out);
    scenarios::verify(experiment, out);
    load::verify(experiment, out);
    meeting::verify(experiment, out);
    names::verify(experiment, out);
    variables::verify(experiment, out);
    inverted_conditions::verify(experiment, out);
    reachability::verify(experiment, out);
    delay_paths::verify(experiment, out);
}

/// Reports names that are defined nowhere, in a file with parts that do not parse. A name that such
/// a part may define is left alone: one that `text` has outside of references.
pub(crate) fn verify_references(experiment: &Experiment, text: &str, out: &mut Diagnostics) {
    let mut found = Diagnostics::default();
    if !limits::verify(experiment, &mut found) {
        return;
    }
    names::verify(experiment, &mut found);
    let has_data = text.lines().any(|line| line.starts_with("data:"));
    if !has_data || !experiment.data.is_empty() {
        variables::verify(experiment, &mut found);
    }
    let codes = ["step_unknown", "variable_unknown", "data_unknown"];
    for one in found.sorted().iter().filter(|one| codes.contains(&one.code)) {
        let name = one.message.split('"').nth(1).unwrap_or_default();
        if !name.is_empty() && !is_defined_in(text, name) {
            out.push((*one).clone());
        }
    }
}

/// Whether `text` has `name` as a whole word outside of `${name}` and `(name)`.
fn is_defined_in(text: &str, name: &str) -> bool {
    let inside = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let is_whole = !before.ends_with(inside) && !after.starts_with(inside);
        is_whole && !before.ends_with("${") && !before.ends_with('(')
    })
}

/// Whether `short` is `long` without one of its letters.
fn one_letter_short(short: &str, long: &str) -> bool {
    let mut rest = long.chars();
    short.len() >= 2
        && long.chars().count() == short.chars().count() + 1
        && short.chars().all(|letter| rest.any(|own| own == letter))
}

/// Formats a number with all digits, in groups of three, so that it can be compared with a file's
/// rows.
fn digits(count: f64) -> String {
    format_grouped(count.round() as u64)
}

/// Reports a name that is not defined.
fn unknown<'k>(
    code: &'static str,
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
