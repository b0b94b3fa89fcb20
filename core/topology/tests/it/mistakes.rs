//! Every mistake with the message that its author reads: `mistakes/NAME.yaml` next to `NAME.txt`.
//! `WAVETANK_GOLDEN=update` rewrites the messages; read the difference before committing it.

#[path = "../../../grammar/tests/it/common/mistakes.rs"]
mod common;
use crate::support;

use std::collections::BTreeSet;

use common::{bytes_of, check_answers, mistakes};
use support::files::root;
use support::reading;
use wavetank_grammar::render;

/// What is read of `mistake`, and the codes in it.
fn answer(mistake: &str) -> (String, Vec<&'static str>) {
    let reading = reading("lab.yaml", &bytes_of(mistake));
    let codes: Vec<&'static str> =
        reading.diagnostics.sorted().iter().map(|reported| reported.code.as_str()).collect();
    assert_eq!(reading.lab.is_none(), reading.diagnostics.has_errors(), "{mistake}: a lab, or an error");
    (render(&reading.diagnostics, "lab.yaml", &reading.text), codes)
}

#[test]
fn each_is_answered_as_checked_in() {
    check_answers(answer);
}

/// The file's name says the code that it is there for.
#[test]
fn each_is_known_by_its_code() {
    for name in mistakes() {
        let (text, codes) = answer(&name);
        let code = name.split('-').next().unwrap_or_default();
        assert!(codes.contains(&code), "{name}: {codes:?}\n{text}");
    }
}

#[test]
fn every_code_of_a_lab_has_a_mistake() {
    let reported: BTreeSet<&str> = mistakes().iter().flat_map(|name| answer(name).1).collect();
    let words = root().join("core/report/src/explain/words/written.txt");
    let words = std::fs::read_to_string(words).expect("the explanations are readable");
    let known: Vec<&str> =
        words.lines().filter(|line| line.starts_with("lab_") && !line.contains(' ')).collect();
    let missing: Vec<&&str> = known.iter().filter(|code| !reported.contains(**code)).collect();
    assert!(
        known.len() > 30 && missing.is_empty(),
        "{} codes, of which no mistake: {missing:?}",
        known.len()
    );
}

#[test]
fn several_are_reported_together() {
    let text = "wavetank_lab: 1\nname: Several\nnetworks: {a: 10.0.0.0/33}\nhosts:\n  h1: {role: loud, networks: [a], sysctl: {}}\n";
    let reading = reading("lab.yaml", text.as_bytes());
    let codes: Vec<_> = reading.diagnostics.sorted().iter().map(|reported| reported.code).collect();
    assert_eq!(codes, ["lab_bad_name", "lab_subnet", "word_unknown", "key_unknown"]);
}
