//! Parsing any mutation of a file ends with an experiment or an error, and never with a panic.

use crate::mutation;
use crate::support;

use mutation::read_mutated;
use support::files::{of_tests, texts_in};
use support::{example_names, example_text, reading};
use wavetank_experiment::{DataFacts, Factor, verify_data};
use wavetank_grammar::render;

/// A second's work.
const MUTATIONS: u64 = 10_000;

/// Terms with a meaning in an experiment.
const WORDS: [&str; 20] = [
    "${",
    "${x}",
    "${env:HOME_URL}",
    "${secret:PASSWORD}",
    "$${",
    "0",
    "-1",
    "1e400",
    "99999999999999999999",
    "1k/s",
    "5m",
    " to ",
    " or ",
    "rate",
    "hold: ",
    "steps: ",
    "repeat: ",
    "use: ",
    "vars: {a: [1, 2]}",
    "/",
];

/// Everything that is done with a file.
fn use_all(bytes: &[u8]) {
    let reading = reading("mutated.yaml", bytes, &[]);
    let shown = render(&reading.diagnostics, "mutated.yaml", &reading.text);
    assert_eq!(reading.experiment.is_none(), reading.diagnostics.has_errors(), "{shown}");
    assert_eq!(reading.diagnostics.has_errors(), reading.diagnostics.first_error("mutated.yaml").is_some());
    let Some(mut experiment) = reading.experiment else { return };
    let facts = DataFacts { columns: vec!["user".to_owned()], rows: 10 };
    drop(verify_data(&experiment, &|_| Some(facts.clone())));
    experiment.scale(Factor::parse("--scale", "1/1000").expect("a factor"));
    experiment.speed(Factor::parse("--speed", "20x").expect("a factor"));
    drop(experiment.retarget("http://127.0.0.1:1"));
}

#[test]
fn nothing_panics() {
    let mut files: Vec<String> = example_names().iter().map(|name| example_text(name)).collect();
    files.extend(texts_in(&of_tests("mistakes"), "yaml"));
    read_mutated(&files, &WORDS, MUTATIONS, use_all);
}
