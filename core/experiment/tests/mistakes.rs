//! Every mistake with what its author reads: `mistakes/NAME.yaml` beside `NAME.txt`.
//! `WAVETANK_GOLDEN=update` writes the answers anew; read the difference before it lands.

mod support;

use std::collections::BTreeSet;
use std::path::PathBuf;

use support::{golden_at, names_in, reading};
use wavetank_experiment::{RowFacts, render, verify_data};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes")
}

/// Files that a foreign tool's name must end in something else than `.yaml`.
fn name_of(stem: &str) -> String {
    let ending = [("locust", "py"), ("wrk", "lua"), ("k6", "js"), ("jmeter", "jmx"), ("har", "har")];
    let ending = ending.iter().find(|(tool, _)| stem == format!("foreign_{tool}"));
    format!("{stem}.{}", ending.map_or("yaml", |(_, ending)| ending))
}

/// What is read of `stem`, and the codes in it.
fn answer(stem: &str) -> (String, Vec<&'static str>) {
    let bytes = std::fs::read(folder().join(format!("{stem}.yaml"))).expect("the mistake is there");
    let name = name_of(stem);
    let set: &[(&str, &str)] = if stem == "set_unknown" { &[("buyer", "5")] } else { &[] };
    let reading = reading(&name, &bytes, set);
    let mut diagnostics = reading.diagnostics;
    if let Some(experiment) = &reading.experiment {
        for told in verify_data(experiment, &rows).sorted() {
            diagnostics.push(told.clone());
        }
    }
    let codes = diagnostics.sorted().iter().map(|told| told.code).collect();
    (render(&diagnostics, &name, &reading.text), codes)
}

/// The rows that `data_*` mistakes speak of.
fn rows(file: &str) -> Option<RowFacts> {
    let columns = |all: &[&str]| all.iter().map(|column| (*column).to_owned()).collect();
    match file {
        "accounts.csv" => Some(RowFacts { columns: columns(&["user", "password"]), rows: 50_000 }),
        "semicolons.csv" => Some(RowFacts { columns: columns(&["user;password"]), rows: 50_000 }),
        _ => None,
    }
}

#[test]
fn each_is_answered_as_checked_in() {
    let names = names_in(&folder(), "yaml");
    for name in &names {
        let stem = name.trim_end_matches(".yaml");
        let (text, codes) = answer(stem);
        assert!(!codes.is_empty(), "{name} is no mistake");
        golden_at(&folder().join(format!("{stem}.txt")), &text);
    }
}

#[test]
fn every_answer_has_a_mistake() {
    let mistakes: BTreeSet<String> =
        names_in(&folder(), "yaml").iter().map(|name| name.replace(".yaml", "")).collect();
    let answers: BTreeSet<String> =
        names_in(&folder(), "txt").iter().map(|name| name.replace(".txt", "")).collect();
    assert_eq!(mistakes, answers);
}

#[test]
fn there_are_enough_of_them() {
    let stems = names_in(&folder(), "yaml");
    let codes: BTreeSet<&str> =
        stems.iter().flat_map(|name| answer(name.trim_end_matches(".yaml")).1).collect();
    assert!(stems.len() >= 100, "{} mistakes", stems.len());
    assert!(codes.len() >= 80, "{} codes: {codes:?}", codes.len());
}

#[test]
fn several_are_told_at_once() {
    let (text, codes) = answer("several");
    assert_eq!(codes.len(), 5, "{text}");
    assert!(text.ends_with("5 errors\n"), "{text}");
}
