//! Checks between parts of a file that are each valid.

mod blocks;
mod data;
mod delay_paths;
mod inverted_conditions;
mod limits;
mod load;
mod meeting;
mod messages;
mod names;
mod reachability;
mod scenarios;
mod totals;
mod variables;

pub use data::{DataFacts, verify_data};

use wavetank_grammar::{Diagnostic, Diagnostics};
use wavetank_units::Code;

use crate::model::Experiment;

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
    blocks::verify(experiment, &mut found);
    names::verify(experiment, &mut found);
    let has_data = text.lines().any(|line| line.starts_with("data:"));
    if !has_data || !experiment.data.is_empty() {
        variables::verify(experiment, &mut found);
    }
    let codes =
        [Code::StepUnknown, Code::VariableUnknown, Code::DataUnknown, Code::BlockUnknown, Code::PhaseUnknown];
    // A phase that does not parse may have a name.
    let is_certain = |one: &&&Diagnostic| !one.message.contains("no phase of the file has a name");
    for one in found.sorted().iter().filter(|one| codes.contains(&one.code)).filter(is_certain) {
        let name = one.message.split('"').nth(1).unwrap_or_default();
        if !name.is_empty() && !is_defined_in(text, name) {
            out.push((*one).clone());
        }
    }
}

/// Whether `text` has `name` as a whole word outside of `${name}`, `(name)`, `use: name` and
/// `in name`.
fn is_defined_in(text: &str, name: &str) -> bool {
    let inside = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let is_whole = !before.ends_with(inside) && !after.starts_with(inside);
        let is_used = ["${", "(", "use: ", " in "].iter().any(|start| before.ends_with(start));
        is_whole && !is_used
    })
}
