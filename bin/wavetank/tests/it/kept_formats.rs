//! Stored runs of version 0.1.0 (`tests/kept/0.1.0`): this version reads them, and reports what
//! that version reported.
//!
//! The files are never written again. A format that changes gets a new version, and its old files
//! stay readable.

use std::path::{Path, PathBuf};

use serde_json::Value;
use wavetank_testkit::{Outcome, Program};

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kept/0.1.0")
}

/// Runs the product in the folder of kept files.
fn run(words: &str) -> Outcome {
    Program::new(env!("CARGO_BIN_EXE_wavetank")).args(words.split_whitespace()).in_folder(kept()).run()
}

/// Returns the path of the first value of `expected` that `found` lacks. Fields may be added.
fn missing(path: &str, expected: &Value, found: &Value) -> Option<String> {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => expected.iter().find_map(|(key, value)| {
            missing(&format!("{path}.{key}"), value, found.get(key).unwrap_or(&Value::Null))
        }),
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => expected
            .iter()
            .zip(found)
            .enumerate()
            .find_map(|(at, (expected, found))| missing(&format!("{path}[{at}]"), expected, found)),
        _ => (expected != found).then(|| format!("{path}: {expected} became {found}")),
    }
}

/// Checks that the output of `words` has every value of the kept output `file`.
#[track_caller]
fn check(words: &str, file: &str) {
    let outcome = run(words);
    outcome.expect_exit(0);
    let text = std::fs::read_to_string(kept().join("expected").join(file)).expect("a kept output");
    let expected: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(missing("", &expected, &outcome.json()), None, "{words}");
}

#[test]
fn a_run_of_a_file_is_read() {
    check("report b1cb63 --runs-dir runs --format json", "shop.json");
}

#[test]
fn a_run_of_a_url_is_read() {
    check("report 69457c --runs-dir runs --format json", "open.json");
}

#[test]
fn a_run_in_a_lab_is_read() {
    check("report 691332 --runs-dir runs --format json", "lab.json");
}

#[test]
fn a_packed_run_is_read() {
    check("report lab.wtrun --format json", "lab.json");
}

#[test]
fn a_search_is_read() {
    check("report 12ac84 --runs-dir runs --format json", "knee.json");
}

#[test]
fn runs_are_compared() {
    check("compare 69457c 6b8b6c --runs-dir runs --format json", "compared.json");
}

#[test]
fn every_format_is_made_of_every_run() {
    for run_id in ["b1cb63", "69457c", "691332", "12ac84"] {
        for format in ["text", "junit", "markdown", "html", "csv"] {
            let outcome = run(&format!("report {run_id} --runs-dir runs --format {format}"));
            outcome.expect_exit(0);
            assert!(!outcome.stdout.is_empty(), "{outcome}");
        }
    }
}

#[test]
fn all_runs_are_listed() {
    let outcome = run("runs list --runs-dir runs --format json");
    outcome.expect_exit(0);
    let ids = ["69457c", "6b8b6c", "691332", "b1cb63"];
    let listed = outcome.json().to_string();
    assert!(ids.iter().all(|id| listed.contains(id)) && !listed.contains("damaged"), "{listed}");
}
