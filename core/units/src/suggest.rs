//! *Did you mean*: the nearest of the known terms.

/// Jaro-Winkler similarity from which two terms count as near.
const NEAR: f64 = 0.8;

/// Returns the known term nearest to `word`, if it is near enough: similar by Jaro-Winkler, or one
/// typo away (two from seven letters on).
pub fn did_you_mean<'w>(word: &str, known: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let lower = word.to_lowercase();
    let slips_max = if lower.chars().count() >= 7 { 2 } else { 1 };
    let near = |candidate: &&str| {
        let candidate = candidate.to_lowercase();
        let slips = strsim::damerau_levenshtein(&lower, &candidate);
        // One slip in a word of two letters leaves nothing of it.
        let slipped = slips <= slips_max && lower.chars().count() > 2;
        slipped || strsim::jaro_winkler(&lower, &candidate) > NEAR
    };
    let distance = |candidate: &str| strsim::damerau_levenshtein(&lower, &candidate.to_lowercase());
    known.into_iter().filter(near).min_by_key(|candidate| distance(candidate))
}
