//! Compares every faulty file with its expected diagnostics: `mistakes/NAME.yaml` and `NAME.txt`.
//! `WAVETANK_GOLDEN=update` rewrites the expected files; review the difference before it is
//! committed.

use std::collections::BTreeSet;

use super::support::files::{golden_at, names_in, of_tests};

/// The names of all mistakes, without `.yaml`.
pub(crate) fn mistakes() -> BTreeSet<String> {
    stems("yaml")
}

fn stems(extension: &str) -> BTreeSet<String> {
    let names = names_in(&of_tests("mistakes"), extension);
    names.iter().filter_map(|name| name.rsplit_once('.')).map(|(stem, _)| stem.to_owned()).collect()
}

/// The mistake of this name.
pub(crate) fn bytes_of(mistake: &str) -> Vec<u8> {
    std::fs::read(of_tests("mistakes").join(format!("{mistake}.yaml"))).expect("the mistake is there")
}

/// Panics unless each faulty file has its expected output and vice versa. `answer` returns the
/// rendered diagnostics of one file, and their codes.
pub(crate) fn check_answers(answer: impl Fn(&str) -> (String, Vec<&'static str>)) {
    for mistake in mistakes() {
        let (text, codes) = answer(&mistake);
        assert!(!codes.is_empty(), "{mistake} is no mistake");
        golden_at(&of_tests("mistakes").join(format!("{mistake}.txt")), &text);
    }
    assert_eq!(mistakes(), stems("txt"));
}
