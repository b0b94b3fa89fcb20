//! The schema and the page are those that are checked in, and every file that is read validates.

mod support;

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;
use support::{example_labs, golden_at, reading, root};
use wavetank_experiment::render;
use wavetank_topology::{page, schema};

fn validator() -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(&schema()).expect("the schema is JSON");
    jsonschema::validator_for(&schema).expect("the schema is a schema")
}

/// What is wrong with `text` for the schema.
fn complaints(text: &str) -> Vec<String> {
    let value: Value = serde_saphyr::from_str(text).expect("is YAML");
    validator().iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn schema_is_as_checked_in() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/schema.json");
    golden_at(&path, &schema());
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

/// Every key that the schema knows stands in one file, which is read whole and validates.
#[test]
fn every_key_is_read() {
    let text = include_str!("golden/everything.yaml");
    assert_eq!(complaints(text), Vec::<String>::new());
    let read = reading("everything.yaml", text.as_bytes());
    assert!(read.lab.is_some(), "{}", render(&read.diagnostics, "everything.yaml", &read.text));
    let (mut known, mut used) = (BTreeSet::new(), BTreeSet::new());
    properties(&serde_json::from_str(&schema()).expect("JSON"), &mut known);
    keys(&serde_saphyr::from_str(text).expect("YAML"), &mut used);
    let missing: Vec<&String> = known.difference(&used).collect();
    assert!(known.len() > 70 && missing.is_empty(), "{} keys, of which missing: {missing:?}", known.len());
}

/// The names of all properties in a schema.
fn properties(schema: &Value, into: &mut BTreeSet<String>) {
    if let Some(Value::Object(properties)) = schema.get("properties") {
        into.extend(properties.keys().cloned());
    }
    children(schema, &mut |child| properties(child, into));
}

/// The keys of all maps in a file.
fn keys(value: &Value, into: &mut BTreeSet<String>) {
    if let Value::Object(map) = value {
        into.extend(map.keys().cloned());
    }
    children(value, &mut |child| keys(child, into));
}

fn children(value: &Value, visit: &mut dyn FnMut(&Value)) {
    match value {
        Value::Object(map) => map.values().for_each(visit),
        Value::Array(items) => items.iter().for_each(visit),
        _ => {}
    }
}
