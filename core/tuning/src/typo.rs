//! [`typo_of`]: the known name that a word misspells.

/// Returns the known name that `word` misspells: one or two slips in a name of eight or more
/// letters. It is stricter than a suggestion, because the result is an error of its own.
pub(crate) fn typo_of<'w>(word: &str, known: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    if word.len() < 8 {
        return None;
    }
    let slips = known.into_iter().map(|known| (strsim::damerau_levenshtein(word, known), known));
    slips.filter(|(slips, _)| (1..=2).contains(slips)).min().map(|(_, known)| known)
}
