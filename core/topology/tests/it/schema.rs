//! The schema and the page are those that are checked in, and every file that is read validates.

#[path = "../../../grammar/tests/it/common/schema.rs"]
mod common;
use crate::support;

use common::keys_unused;
use support::files::{golden_at, of_tests, root};
use support::{example_labs, reading};
use wavetank_grammar::render;
use wavetank_topology::{page, schema};

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
    golden_at(&root().join("docs/lab-file.md"), &page());
}

#[test]
fn examples_validate() {
    for (name, text) in example_labs() {
        assert_eq!(complaints(&text), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn schema_refuses_what_the_reader_refuses() {
    let head = "wavetank_lab: 1\nname: x\nnetworks: {a: 10.0.0.0/24}\n";
    for rest in [
        "hosts: {h1: {network: [a]}}\n",
        "hosts: {h1: {networks: [a], role: loud}}\n",
        "hosts: {h1: {networks: {a: {rate: 10GB}}}}\n",
        "hosts: {h1: {networks: [a], services: [{serve: {listen: 80}, nginx: {listen: 81}}]}}\n",
        "hosts: {h1: {networks: [a], services: [{serve: {}}]}}\n",
        "hosts: {h1: {networks: [a], limits: {cpu: 2}}}\n",
        "hosts: {h1: {networks: [a]}}\nfaults: [{when: 5, host: h1, cut: a}]\n",
    ] {
        let text = format!("{head}{rest}");
        assert_ne!(complaints(&text), Vec::<String>::new(), "{text}");
        assert!(reading("x.yaml", text.as_bytes()).lab.is_none(), "{text}");
    }
}

/// One file contains every key of the schema. It is read completely and validates.
#[test]
fn every_key_is_read() {
    let text = include_str!("../golden/everything.yaml");
    assert_eq!(complaints(text), Vec::<String>::new());
    let read = reading("everything.yaml", text.as_bytes());
    assert!(read.lab.is_some(), "{}", render(&read.diagnostics, "everything.yaml", &read.text));
    let (known, missing) = keys_unused(&schema(), &[text]);
    assert!(known > 70 && missing.is_empty(), "{known} keys, of which missing: {missing:?}");
}
