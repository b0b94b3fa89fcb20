//! [`explain`]: the explanations of a code that a user typed.

use wavetank_units::{Code, UserError, did_you_mean};

use super::{Explanation, explanations};

/// A longer argument is not repeated in the error, because users sometimes paste whole files.
const CHARS_SHOWN_MAX: usize = 60;

/// Returns all explanations for `word`: `late`, `Late`, `first byte`, `exit 3`, `invalid`. Never
/// empty.
///
/// # Errors
/// A usage error (`code_unknown`) if there is none; it suggests a similar code.
pub fn explain(word: &str) -> Result<Vec<Explanation>, UserError> {
    let all = explanations();
    let wanted = plain(word);
    let found: Vec<_> =
        all.iter().filter(|one| names(one).any(|name| plain(name) == wanted)).copied().collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let short = wanted.chars().count() <= CHARS_SHOWN_MAX;
    let hint = match did_you_mean(if short { &wanted } else { "" }, all.iter().flat_map(names)) {
        Some(near) => format!("did you mean {near}? `wavetank explain` lists all codes"),
        None => "`wavetank explain` lists all codes; errors and findings show theirs".to_owned(),
    };
    let shown = word.trim();
    let shown = if shown.chars().count() > CHARS_SHOWN_MAX { "this" } else { &format!("`{shown}`") };
    Err(UserError::usage(Code::CodeUnknown, format!("{shown} is not a code of wavetank"), hint))
}

fn names(one: &Explanation) -> impl Iterator<Item = &'static str> + use<> {
    std::iter::once(one.code).chain(one.also.split(", ").filter(|name| !name.is_empty()))
}

/// Normalises a code as in the table: lower case, `_` instead of blanks, no `exit` before a number.
fn plain(word: &str) -> String {
    let word = word.trim().trim_matches(['[', ']', '`', '"', '\'']).to_lowercase();
    let joined =
        word.split([' ', '-', '_', '.']).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_");
    match joined.strip_prefix("exit_").or_else(|| joined.strip_prefix("code_")) {
        Some(number) if number.parse::<u8>().is_ok() => number.to_owned(),
        _ => joined,
    }
}
