//! The name of a run, which is part of a folder's name.

use wavetank_units::{Code, UserError};

use crate::model::Experiment;

/// Maximum length: a folder's name also contains time and id.
const NAME_MAX: usize = 64;

/// Returns the run's name: from the file or its target, in characters that a folder's name may
/// have.
pub(crate) fn run_name(experiment: &Experiment) -> String {
    let given = experiment.name.as_ref().map(|name| name.value.clone());
    let target =
        || experiment.targets.first().and_then(|target| Some(target.urls.first()?.url.value.authority()));
    let text = given.or_else(target).unwrap_or_else(|| "experiment".to_owned());
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._".contains(c) { c } else { '-' };
    let name: String = text.chars().map(plain).take(NAME_MAX).collect();
    name.trim_matches(['-', '.']).to_owned()
}

/// Refuses a `--name` that cannot be part of a directory's name.
///
/// # Errors
/// Other letters than a folder's, or too many of them.
pub(crate) fn check_name(name: &str) -> Result<(), UserError> {
    let letters = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    if name.is_empty() || name.len() > NAME_MAX || !letters || name.starts_with(['.', '-']) {
        return Err(UserError::usage(
            Code::BadName,
            format!("--name `{name}` cannot be part of a directory's name"),
            format!("up to {NAME_MAX} letters, digits, - _ and . in it, for example checkout-v2"),
        ));
    }
    Ok(())
}
