//! Every mistake with the message its author reads: `mistakes/NAME.yaml` and `NAME.txt`.
//! `WAVETANK_GOLDEN=update` writes the messages again; read the difference before it lands.

#[path = "../../../grammar/tests/it/common/mistakes.rs"]
mod common;
use crate::support;

use std::collections::BTreeSet;

use common::{bytes_of, check_answers, mistakes};
use support::reading;
use wavetank_experiment::{DataFacts, verify_data};
use wavetank_grammar::render;

/// Files that a foreign tool's name must end in something else than `.yaml`.
fn name_of(stem: &str) -> String {
    let ending = [("locust", "py"), ("wrk", "lua"), ("k6", "js"), ("jmeter", "jmx"), ("har", "har")];
    let ending = ending.iter().find(|(tool, _)| stem == format!("foreign_{tool}"));
    format!("{stem}.{}", ending.map_or("yaml", |(_, ending)| ending))
}

/// What is read of `stem`, and the codes in it.
fn answer(stem: &str) -> (String, Vec<&'static str>) {
    let name = name_of(stem);
    let set: &[(&str, &str)] = if stem == "set_unknown" { &[("buyer", "5")] } else { &[] };
    let reading = reading(&name, &bytes_of(stem), set);
    let mut diagnostics = reading.diagnostics;
    if let Some(experiment) = &reading.experiment {
        for reported in verify_data(experiment, &rows).sorted() {
            diagnostics.push(reported.clone());
        }
    }
    let codes = diagnostics.sorted().iter().map(|reported| reported.code.as_str()).collect();
    (render(&diagnostics, &name, &reading.text), codes)
}

/// The rows that `data_*` mistakes speak of.
fn rows(file: &str) -> Option<DataFacts> {
    let columns = |all: &[&str]| all.iter().map(|column| (*column).to_owned()).collect();
    match file {
        "accounts.csv" => Some(DataFacts { columns: columns(&["user", "password"]), rows: 50_000 }),
        "semicolons.csv" => Some(DataFacts { columns: columns(&["user;password"]), rows: 50_000 }),
        _ => None,
    }
}

#[test]
fn each_is_answered_as_checked_in() {
    check_answers(answer);
}

#[test]
fn there_are_enough_of_them() {
    let mistakes = mistakes();
    let codes: BTreeSet<&str> = mistakes.iter().flat_map(|stem| answer(stem).1).collect();
    assert!(mistakes.len() >= 100, "{} mistakes", mistakes.len());
    assert!(codes.len() >= 80, "{} codes: {codes:?}", codes.len());
}

#[test]
fn several_are_reported_together() {
    let (text, codes) = answer("several");
    assert_eq!(codes.len(), 5, "{text}");
    assert!(text.ends_with("5 errors\n"), "{text}");
}
