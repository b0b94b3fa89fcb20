//! [`schema`]: the grammar of topology files as JSON Schema, for editors.
//!
//! It is wider than the reader: rules between keys and between parts of the file are the reader's alone.

use serde_json::{Map, Value, json};

use crate::grammar::{Key, Kind, Room, Section};

const COUNT: &str = r"\d+(\.\d+)?[kMG]?";
const DURATION: &str = r"(\d+(\.\d+)?(us|µs|ms|s|m|h|d) ?)+";
const SIZE: &str = r"\d+(\.\d+)? ?(B|kB|KiB|MB|MiB|GB|GiB)";
const SHARE: &str = r"\d+(\.\d+)? ?%";
const LINK: &str = r"\d+(\.\d+)? ?[kMG]bit/s";
const SUBNET: &str = r"[0-9a-fA-F:.]+/\d+";
const ADDRESS: &str = "[0-9a-fA-F:.]+";
const NAME: &str = "[a-z0-9]([a-z0-9_-]{0,22}[a-z0-9])?";
const PORTS: &str = r"\d+( to \d+)?";
const CPUS: &str = r"\d+(-\d+)?( ?, ?\d+(-\d+)?)*";

/// The JSON Schema of topology files (draft 2020-12), as text with a newline at its end.
pub fn schema() -> String {
    let definitions: Map<String, Value> = Room::ALL
        .into_iter()
        .filter(|room| *room != Room::Lab)
        .map(|room| (definition_name(room), object(room.section())))
        .collect();
    let mut root = object(Room::Lab.section());
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("Wavetank lab, version 1");
    root["$defs"] = Value::Object(definitions);
    let mut text = serde_json::to_string_pretty(&root).expect("maps with text keys are JSON");
    text.push('\n');
    text
}

fn definition_name(room: Room) -> String {
    format!("{room:?}").to_lowercase()
}

fn object(section: &Section) -> Value {
    let required: Vec<&str> = section.keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    let properties: Map<String, Value> =
        section.keys.iter().map(|key| (key.name.to_owned(), property(key))).collect();
    let mut object = json!({
        "type": "object",
        "description": section.about,
        "additionalProperties": false,
        "properties": properties,
        "required": required,
    });
    if !section.verbs.is_empty() {
        let one = section.verbs.iter().map(|verb| json!({"required": [verb]}));
        object["oneOf"] = Value::Array(one.collect());
    }
    object
}

fn property(key: &Key) -> Value {
    let mut property = kind(&key.kind);
    property["description"] = json!(key.about);
    property
}

fn kind(of: &Kind) -> Value {
    match of {
        Kind::Text | Kind::Scalar => json!({"type": ["string", "number", "boolean"]}),
        Kind::File => json!({"type": "string", "minLength": 1}),
        Kind::Servers => written(r"[a-z0-9,\[\]-]+(:\d+)?"),
        Kind::Name => written(NAME),
        Kind::Bool => json!({"type": "boolean"}),
        Kind::Never => json!({"const": false}),
        Kind::Version => json!({"const": 1}),
        Kind::Count => number_or(COUNT),
        Kind::Duration => written(DURATION),
        Kind::Size => written(SIZE),
        Kind::Share => written(SHARE),
        Kind::Link => written(LINK),
        Kind::Subnet => written(SUBNET),
        Kind::Destination => written(&format!("(default|{SUBNET}|{ADDRESS})")),
        Kind::Address => written(ADDRESS),
        Kind::Addresses => written(&format!("{ADDRESS}( to {ADDRESS})?")),
        Kind::Ports => one_or_list(&number_or(PORTS)),
        Kind::Cpus => one_or_list(&number_or(CPUS)),
        Kind::Path => written("/.*"),
        Kind::Mode => json!({"type": ["string", "integer"], "pattern": "^(0o|0)?[0-7]{3}$"}),
        Kind::Word(words) => json!({"enum": words}),
        Kind::Is(room) => json!({"$ref": format!("#/$defs/{}", definition_name(*room))}),
        Kind::List(item) => json!({"type": "array", "items": kind(item)}),
        Kind::OneOrList(item) => one_or_list(&kind(item)),
        Kind::Map(value) => json!({"type": "object", "additionalProperties": kind(value)}),
        Kind::MapOrNothing(value) => {
            json!({"type": "object", "additionalProperties": {"anyOf": [kind(value), {"type": "null"}]}})
        }
        Kind::Either(kinds) => json!({"anyOf": kinds.iter().map(kind).collect::<Vec<_>>()}),
    }
}

fn one_or_list(item: &Value) -> Value {
    json!({"anyOf": [item, {"type": "array", "items": item}]})
}

/// Text of this shape.
fn written(pattern: &str) -> Value {
    json!({"type": "string", "pattern": format!("^{pattern}$")})
}

/// A bare number, or text of this shape.
fn number_or(pattern: &str) -> Value {
    json!({"type": ["integer", "string"], "minimum": 0, "pattern": format!("^{pattern}$")})
}
