//! A JSON Schema against files in YAML.

use std::collections::BTreeSet;

use serde_json::Value;

/// Returns the schema's complaints about `text`.
pub(crate) fn complaints(schema: &str, text: &str) -> Vec<String> {
    let schema: Value = serde_json::from_str(schema).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is a schema");
    let value: Value = serde_saphyr::from_str(text).expect("is YAML");
    validator.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Returns the number of keys in the schema, and those that occur in none of `texts`.
pub(crate) fn keys_unused(schema: &str, texts: &[&str]) -> (usize, Vec<String>) {
    let (mut known, mut used) = (BTreeSet::new(), BTreeSet::new());
    properties(&serde_json::from_str(schema).expect("JSON"), &mut known);
    for text in texts {
        keys(&serde_saphyr::from_str(text).expect("YAML"), &mut used);
    }
    (known.len(), known.difference(&used).cloned().collect())
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
