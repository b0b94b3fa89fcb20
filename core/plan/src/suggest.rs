//! *Did you mean*: the nearest of the known words.

/// Words that share so much of their letters and beginning are meant alike.
const NEAR: f64 = 0.8;

/// The known word nearest to `word`, if it is near enough to be meant: alike by Jaro-Winkler, or one slip of
/// the finger away (two from seven letters on).
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
