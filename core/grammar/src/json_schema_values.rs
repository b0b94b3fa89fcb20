//! What values look like to a JSON Schema.

use serde_json::{Map, Value, json};

use crate::{CustomKind, Grammar, KeySchema, ValueKind};

/// A count: `500`, `10k`.
pub const COUNT: &str = r"\d+(\.\d+)?[kMG]?";
/// A duration: `30s`, `1m30s`.
pub const DURATION: &str = r"(\d+(\.\d+)?(us|µs|ms|s|m|h|d) ?)+";
const SIZE: &str = r"\d+(\.\d+)? ?(B|kB|KiB|MB|MiB|GB|GiB)";

/// What `kind` takes.
pub(crate) fn kind_schema<G: Grammar>(kind: &ValueKind<G>) -> Value {
    match kind {
        ValueKind::Text => text(),
        ValueKind::Name => G::name_shape(),
        ValueKind::Bool => bool_of::<G>(),
        ValueKind::Version => json!({"const": 1}),
        ValueKind::Count => number_or::<G>(COUNT),
        ValueKind::Duration => pattern_or_variable::<G>(DURATION),
        ValueKind::Size => pattern_or_variable::<G>(SIZE),
        ValueKind::File => json!({"type": "string", "minLength": 1}),
        ValueKind::Word(words) => {
            json!({"enum": words.iter().flat_map(|word| spellings(word)).collect::<Vec<_>>()})
        }
        ValueKind::Own(own) => own.shape(),
        ValueKind::Is(map) => json!({"$ref": format!("#/$defs/{}", map.definition())}),
        ValueKind::List(item) => list::<G>(&kind_schema(item)),
        ValueKind::OneOrList(item) => one_or_list::<G>(&kind_schema(item)),
        ValueKind::Map(value) => map_of::<G>(&kind_schema(value)),
        ValueKind::MapOrNothing(value) => {
            map_of::<G>(&json!({"anyOf": [kind_schema(value), {"type": "null"}]}))
        }
        ValueKind::Either(kinds) => json!({"anyOf": kinds.iter().map(kind_schema).collect::<Vec<_>>()}),
    }
}

/// A key's value, with what it is for.
pub(crate) fn key_schema<G: Grammar>(key: &KeySchema<G>) -> Value {
    let mut shape = kind_schema(&key.kind);
    if let Value::Object(fields) = &mut shape {
        fields.insert("description".to_owned(), json!(key.about));
    }
    shape
}

/// Any text; YAML takes some texts for numbers and truths.
pub fn text() -> Value {
    json!({"type": ["string", "number", "boolean"]})
}

/// Text that matches this pattern, or contains a variable if the grammar has variables.
pub fn pattern_or_variable<G: Grammar>(pattern: &str) -> Value {
    json!({"type": "string", "pattern": or_variable::<G>(pattern)})
}

/// A bare number, or text of this shape.
pub fn number_or<G: Grammar>(pattern: &str) -> Value {
    json!({"type": ["integer", "string"], "minimum": 0, "pattern": or_variable::<G>(pattern)})
}

/// A list, or a variable in its place.
pub fn list<G: Grammar>(item: &Value) -> Value {
    whole::<G>("array", "items", item)
}

/// One, or a list.
pub fn one_or_list<G: Grammar>(item: &Value) -> Value {
    json!({"anyOf": [item, list::<G>(item)]})
}

fn map_of<G: Grammar>(value: &Value) -> Value {
    whole::<G>("object", "additionalProperties", value)
}

/// A compound value, or a variable in its place.
fn whole<G: Grammar>(kind: &str, inside: &str, of: &Value) -> Value {
    let mut shape = Map::from_iter([(inside.to_owned(), of.clone())]);
    if let Some(variable) = G::VARIABLE {
        shape.insert("type".to_owned(), json!([kind, "string"]));
        shape.insert("pattern".to_owned(), json!(format!("^{variable}$")));
    } else {
        shape.insert("type".to_owned(), json!(kind));
    }
    Value::Object(shape)
}

fn bool_of<G: Grammar>() -> Value {
    let plain = json!({"type": "boolean"});
    match G::VARIABLE {
        Some(variable) => {
            json!({"anyOf": [plain, {"type": "string", "pattern": format!("^{variable}$")}]})
        }
        None => plain,
    }
}

fn or_variable<G: Grammar>(pattern: &str) -> String {
    match G::VARIABLE {
        Some(variable) => format!("^{pattern}$|{variable}"),
        None => format!("^{pattern}$"),
    }
}

/// `1.1` without quotes is a number to a reader of YAML.
fn spellings(word: &str) -> Vec<Value> {
    let mut all = vec![json!(word)];
    if let Ok(number) = serde_json::from_str::<serde_json::Number>(word) {
        all.push(Value::Number(number));
    }
    all
}
