//! [`schema`]: a grammar as JSON Schema, for editors: completion, descriptions, early error checks.
//!
//! The schema accepts more than the reader. It treats many values as plain text, and only the
//! reader checks rules between keys and between parts of the file.

use serde_json::{Map, Value, json};

use crate::{Grammar, KeySchema, json_schema_values};

/// Returns the JSON Schema of such files (draft 2020-12), as text with a newline at its end. `more`
/// are definitions in addition to the maps of the table.
pub fn schema<G: Grammar>(more: Map<String, Value>) -> String {
    let mut definitions = more;
    for map in G::ALL.iter().filter(|map| **map != G::FILE) {
        definitions.insert(map.definition(), of_map(*map));
    }
    let mut root = of_map(G::FILE);
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!(G::TITLE);
    root["$defs"] = Value::Object(definitions);
    let mut text = serde_json::to_string_pretty(&root).expect("maps with text keys are JSON");
    text.push('\n');
    text
}

fn of_map<G: Grammar>(map: G) -> Value {
    let section = map.section();
    object(section.about, section.keys, section.verbs)
}

/// A map with these keys and no others. If there are `verbs`, exactly one of them must be present.
pub fn object<'k, G: Grammar>(
    about: &str,
    keys: impl IntoIterator<Item = &'k KeySchema<G>>,
    verbs: &[&str],
) -> Value {
    let keys: Vec<&KeySchema<G>> = keys.into_iter().collect();
    let required: Vec<&str> = keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    let properties: Map<String, Value> =
        keys.iter().map(|key| (key.name.to_owned(), json_schema_values::key_schema(key))).collect();
    let mut object = json!({
        "type": "object",
        "description": about,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    if !verbs.is_empty() {
        let one = verbs.iter().map(|verb| json!({"required": [verb]}));
        object["oneOf"] = Value::Array(one.collect());
    }
    object
}
