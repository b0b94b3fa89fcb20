//! Suggestions for unknown keys: a similar key, or the key for a name that other tools use.

use wavetank_plan::did_you_mean;

use crate::Grammar;

/// Returns a hint with the key of `known` that an unknown key was probably meant to be.
pub fn suggest_key<'k, G: Grammar>(
    word: &str,
    mut known: impl Iterator<Item = &'k str> + Clone,
) -> Option<String> {
    if let Some(near) = did_you_mean(word, known.clone()) {
        return Some(format!("did you mean {near}?"));
    }
    let synonym = G::SYNONYMS.iter().find(|(other, _)| other.eq_ignore_ascii_case(word));
    let (_, synonym) = synonym?;
    let first = synonym.split([':', ' ']).next().unwrap_or(synonym);
    known.any(|key| key == first).then(|| format!("here it is called {synonym}"))
}
