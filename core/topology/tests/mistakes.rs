//! Every mistake with what its author reads: `mistakes/NAME.yaml` beside `NAME.txt`.
//! `WAVETANK_GOLDEN=update` writes the answers anew; read the difference before it lands.

mod support;

use std::collections::BTreeSet;
use std::path::PathBuf;

use support::{golden_at, names_in, reading};
use wavetank_experiment::render;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes")
}

/// What is read of `name`, and the codes in it.
fn answer(name: &str) -> (String, Vec<&'static str>) {
    let bytes = std::fs::read(folder().join(name)).expect("the mistake is there");
    let reading = reading("lab.yaml", &bytes);
    let codes: Vec<&'static str> = reading.diagnostics.sorted().iter().map(|told| told.code).collect();
    assert_eq!(reading.lab.is_none(), reading.diagnostics.has_errors(), "{name}: a lab, or an error");
    (render(&reading.diagnostics, "lab.yaml", &reading.text), codes)
}

#[test]
fn each_is_answered_as_checked_in() {
    for name in names_in(&folder(), "yaml") {
        let (text, codes) = answer(&name);
        assert!(!codes.is_empty(), "{name} is no mistake");
        golden_at(&folder().join(name.replace(".yaml", ".txt")), &text);
    }
}

#[test]
fn every_answer_has_a_mistake() {
    let stems = |extension: &str| -> BTreeSet<String> {
        let names = names_in(&folder(), extension);
        names.iter().filter_map(|name| name.rsplit_once('.')).map(|(stem, _)| stem.to_owned()).collect()
    };
    assert_eq!(stems("yaml"), stems("txt"));
}

/// The file's name says the code that it is there for.
#[test]
fn each_is_told_by_its_code() {
    for name in names_in(&folder(), "yaml") {
        let (text, codes) = answer(&name);
        let code = name.split('.').next().unwrap_or_default().split('-').next().unwrap_or_default();
        assert!(codes.contains(&code), "{name}: {codes:?}\n{text}");
    }
}

#[test]
fn every_code_of_a_lab_has_a_mistake() {
    let told: BTreeSet<&str> = names_in(&folder(), "yaml").iter().flat_map(|name| answer(name).1).collect();
    let words = support::root().join("core/report/src/explain/words/written.txt");
    let words = std::fs::read_to_string(words).expect("the words are there");
    let known: Vec<&str> =
        words.lines().filter(|line| line.starts_with("lab_") && !line.contains(' ')).collect();
    let missing: Vec<&&str> = known.iter().filter(|code| !told.contains(**code)).collect();
    assert!(
        known.len() > 30 && missing.is_empty(),
        "{} codes, of which no mistake: {missing:?}",
        known.len()
    );
}

#[test]
fn several_are_told_at_once() {
    let text = "wavetank_lab: 1\nname: Several\nnetworks: {a: 10.0.0.0/33}\nhosts:\n  h1: {role: loud, networks: [a], sysctl: {}}\n";
    let reading = reading("lab.yaml", text.as_bytes());
    let codes: Vec<_> = reading.diagnostics.sorted().iter().map(|told| told.code).collect();
    assert_eq!(codes, ["lab_bad_name", "lab_subnet", "word_unknown", "key_unknown"]);
}
