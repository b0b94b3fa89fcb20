//! What was probably meant: a word that is nearly the same, or what others call it.

use wavetank_plan::did_you_mean;

use crate::Grammar;

/// What an unknown key was probably meant to be, of those that are `known`: a hint.
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
