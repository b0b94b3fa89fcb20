//! [`schema`]: the grammar as JSON Schema, for editors: completion, descriptions, the first mistakes.
//!
//! It is wider than the reader in two ways: conditions and templates are text to it, and rules between keys
//! (one load in each phase) are the reader's alone.

use serde_json::{Map, Value, json};

use crate::grammar::{EXPERIMENT, FORMS, Form, Key, Kind, Room};

const COUNT: &str = r"\d+(\.\d+)?[kMG]?";
const DURATION: &str = r"(\d+(\.\d+)?(us|µs|ms|s|m|h|d) ?)+";
const RATE: &str = r"\d+(\.\d+)?[kMG]?/(s|min|h)";
const REQUEST_RATE: &str = r"\d+(\.\d+)?[kMG]?( (requests|sessions))?/(s|min|h)";
const VARIABLE: &str = r"\$\{.+\}";

/// The JSON Schema of experiment files (draft 2020-12), as text with a newline at its end.
pub fn schema() -> String {
    let mut definitions = Map::new();
    for room in Room::ALL.into_iter().filter(|room| *room != Room::Experiment) {
        definitions.insert(room_name(room), object(room.section().about, room.section().keys.iter()));
    }
    let mut steps = Vec::new();
    for form in FORMS {
        definitions.insert(format!("step_{}", form.name), step(form));
        steps.push(json!({"$ref": format!("#/$defs/step_{}", form.name)}));
    }
    definitions.insert(
        "step".to_owned(),
        json!({"description": "One thing a user does; exactly one verb.", "anyOf": steps}),
    );
    let mut root = object(EXPERIMENT.about, EXPERIMENT.keys.iter());
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("Wavetank experiment, version 1");
    root["$defs"] = Value::Object(definitions);
    let mut text = serde_json::to_string_pretty(&root).expect("maps with text keys are JSON");
    text.push('\n');
    text
}

fn room_name(room: Room) -> String {
    let title = room.section().title.to_lowercase();
    title.replace(['\'', ','], "").replace(' ', "_")
}

fn object(about: &str, keys: impl Iterator<Item = &'static Key>) -> Value {
    let keys: Vec<&Key> = keys.collect();
    let required: Vec<&str> = keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    let properties: Map<String, Value> =
        keys.iter().map(|key| (key.name.to_owned(), property(key))).collect();
    json!({
        "type": "object",
        "description": about,
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// Exactly one verb: each has its own key list, so that an editor offers what fits.
fn step(form: &'static Form) -> Value {
    let mut schema = object(form.about, form.verbs.iter().chain(form.keys));
    let one: Vec<Value> = form.verbs.iter().map(|verb| json!({"required": [verb.name]})).collect();
    schema["oneOf"] = Value::Array(one);
    schema
}

fn property(key: &Key) -> Value {
    let mut schema = kind(&key.kind);
    if let Value::Object(fields) = &mut schema {
        fields.insert("description".to_owned(), json!(key.about));
    }
    schema
}

fn kind(of: &Kind) -> Value {
    match of {
        Kind::Text | Kind::Template => json!({"type": ["string", "number", "boolean"]}),
        Kind::Name => json!({"type": ["string", "number"], "pattern": r"^\S+$"}),
        Kind::Bool => {
            json!({"anyOf": [{"type": "boolean"}, {"type": "string", "pattern": format!("^{VARIABLE}$")}]})
        }
        Kind::Version => json!({"const": 1}),
        Kind::Count => number_or(COUNT),
        Kind::CountRange => number_or(&format!("{COUNT}( to {COUNT})?")),
        Kind::CountOrRate => number_or(&format!("({COUNT}|{RATE})")),
        Kind::Sessions => number_or(&format!("{COUNT}( each)?")),
        Kind::Duration => written(DURATION),
        Kind::Rate => written(RATE),
        Kind::RateRange => written(&format!("{REQUEST_RATE}( to {REQUEST_RATE})?")),
        Kind::Size => written(r"\d+(\.\d+)? ?(B|kB|KiB|MB|MiB|GB|GiB)"),
        Kind::Spike => written(&format!("{RATE} for {DURATION}every {DURATION}")),
        Kind::Url => written("https?://.+"),
        Kind::Statuses => json!({"type": ["integer", "string"]}),
        Kind::File | Kind::Condition | Kind::Check | Kind::From | Kind::Auth => json!({"type": "string"}),
        Kind::Think => written(&format!(
            "({DURATION}(to {DURATION})?|exponential {DURATION}|normal {DURATION}(\\+-|±) {DURATION}|lognormal {DURATION}p95 {DURATION})"
        )),
        Kind::Value => json!({}),
        Kind::Word(words) => {
            json!({"enum": words.iter().flat_map(|word| spellings(word)).collect::<Vec<_>>()})
        }
        Kind::Is(room) => json!({"$ref": format!("#/$defs/{}", room_name(*room))}),
        Kind::Steps => list(&json!({"$ref": "#/$defs/step"})),
        Kind::List(item) => list(&kind(item)),
        Kind::OneOrList(item) => json!({"anyOf": [kind(item), list(&kind(item))]}),
        Kind::Map(value) => json!({
            "type": ["object", "string"],
            "additionalProperties": kind(value),
            "pattern": format!("^{VARIABLE}$"),
        }),
        Kind::Either(kinds) => json!({"anyOf": kinds.iter().map(kind).collect::<Vec<_>>()}),
    }
}

/// A list, or the variable that stands for one.
fn list(item: &Value) -> Value {
    json!({"type": ["array", "string"], "items": item, "pattern": format!("^{VARIABLE}$")})
}

/// Text of this shape, or with a variable in it.
fn written(pattern: &str) -> Value {
    json!({"type": "string", "pattern": format!("^{pattern}$|{VARIABLE}")})
}

/// A bare number, or text of this shape.
fn number_or(pattern: &str) -> Value {
    json!({"type": ["integer", "string"], "minimum": 0, "pattern": format!("^{pattern}$|{VARIABLE}")})
}

/// `1.1` without quotes is a number to a reader of YAML.
fn spellings(word: &str) -> Vec<Value> {
    let mut all = vec![json!(word)];
    if let Ok(number) = serde_json::from_str::<serde_json::Number>(word) {
        all.push(Value::Number(number));
    }
    all
}
