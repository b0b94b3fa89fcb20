//! The schema and the page are those that are checked in, and every file that is read validates.

#[path = "../../../grammar/tests/it/common/schema.rs"]
mod common;
use crate::support;

use common::keys_unused;
use support::files::{golden_at, of_tests, root};
use support::{example_names, example_text, reading};
use wavetank_experiment::{page, schema, starter};
use wavetank_grammar::render;

/// What is wrong with `text` for the schema.
fn complaints(text: &str) -> Vec<String> {
    common::complaints(&schema(), text)
}

#[test]
fn schema_is_as_checked_in() {
    golden_at(&of_tests("golden/schema.json"), &schema());
}

#[test]
fn page_is_as_checked_in() {
    golden_at(&root().join("docs/experiment.md"), &page());
}

#[test]
fn examples_validate() {
    for name in example_names() {
        assert_eq!(complaints(&example_text(&name)), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn starter_is_read_and_validates() {
    assert_eq!(complaints(starter()), Vec::<String>::new());
    let reading = reading("first.yaml", starter().as_bytes(), &[("users", "200")]);
    assert!(reading.diagnostics.is_empty(), "{}", render(&reading.diagnostics, "first.yaml", &reading.text));
}

#[test]
fn schema_refuses_what_the_reader_refuses() {
    for text in [
        "wavetank: 2\n",
        "wavetank: 1\nphasen: []\n",
        "wavetank: 1\nphases: [{rate: 500, for: 1m}]\n",
        "wavetank: 1\nphases: [{users: 5, for: 30}]\n",
        "wavetank: 1\nsteps: [{gett: /}]\n",
        "wavetank: 1\nsteps: [{get: /, think: 1s}]\n",
        "wavetank: 1\nhttp: {close: abort}\n",
    ] {
        assert_ne!(complaints(text), Vec::<String>::new(), "{text}");
        assert!(reading("x.yaml", text.as_bytes(), &[]).experiment.is_none(), "{text}");
    }
}

/// Every key that the schema knows is in one file, which parses completely and validates.
#[test]
fn every_key_is_read() {
    let texts = [
        include_str!("../golden/everything.yaml"),
        include_str!("../golden/grpc.yaml"),
        include_str!("../golden/messages.yaml"),
    ];
    for text in texts {
        assert_eq!(complaints(text), Vec::<String>::new());
        let read = reading("everything.yaml", text.as_bytes(), &[]);
        assert!(read.experiment.is_some(), "{}", render(&read.diagnostics, "everything.yaml", &read.text));
    }
    // `target` and top-level `steps` replace `targets` and `scenarios`; both are names further
    // inside. `descriptors` and `reflection` replace `proto`.
    let (known, missing) = keys_unused(&schema(), &texts);
    assert!(
        known > 100 && missing == ["descriptors", "reflection"],
        "{known} keys, of which missing: {missing:?}"
    );
}
