//! Suggestions for unknown keys: a similar key, or the key for a name that other tools use.

use wavetank_units::did_you_mean;

use crate::Grammar;

/// Returns a hint with the key of `known` that an unknown key was probably meant to be.
pub fn suggest_key<'k, G: Grammar>(
    word: &str,
    known: impl Iterator<Item = &'k str> + Clone,
) -> Option<String> {
    // What another tool calls a key is closer than a key that is spelled alike.
    if let Some((first, synonym)) = synonym::<G>(word)
        && known.clone().any(|key| key == first)
    {
        return Some(format!("here it is called {synonym}"));
    }
    // The same holds for a key of another place.
    let elsewhere = |word: &str| Some(G::homes(word)).filter(|homes| !homes.is_empty());
    if let Some(homes) = elsewhere(word) {
        return Some(format!("`{word}` belongs to {}", homes.join(", or to ")));
    }
    if let Some((first, synonym)) = synonym::<G>(word)
        && let Some(homes) = elsewhere(first)
    {
        return Some(format!("here it is called {synonym}, and belongs to {}", homes.join(", or to ")));
    }
    did_you_mean(word, known).map(|near| format!("did you mean {near}?"))
}

/// Returns what a key of another tool is called here: the key, and the key with more of its use.
fn synonym<G: Grammar>(word: &str) -> Option<(&'static str, &'static str)> {
    let (_, synonym) = G::SYNONYMS.iter().find(|(other, _)| other.eq_ignore_ascii_case(word))?;
    Some((synonym.split([':', ' ']).next().unwrap_or(synonym), synonym))
}
