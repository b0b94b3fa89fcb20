//! Suggestions for unknown keys: a similar key, or the key for a name that other tools use.

use wavetank_units::did_you_mean;

use crate::Grammar;

/// Returns a hint with the key of `known` that an unknown key was probably meant to be.
pub fn suggest_key<'k, G: Grammar>(
    word: &str,
    known: impl Iterator<Item = &'k str> + Clone,
) -> Option<String> {
    // What another tool calls a key is closer than a key that is spelled alike.
    let synonym = G::SYNONYMS.iter().find(|(other, _)| other.eq_ignore_ascii_case(word));
    if let Some((_, synonym)) = synonym {
        let first = synonym.split([':', ' ']).next().unwrap_or(synonym);
        if known.clone().any(|key| key == first) {
            return Some(format!("here it is called {synonym}"));
        }
    }
    did_you_mean(word, known).map(|near| format!("did you mean {near}?"))
}
