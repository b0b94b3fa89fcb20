//! [`schema`]: the grammar as JSON Schema. Editors use it for completion, descriptions and first
//! errors.
//!
//! It accepts more than the parser. Conditions and templates are plain text in it, and only the
//! parser checks rules between keys (one load in each phase).

use serde_json::{Map, Value, json};
use wavetank_grammar::object;

use crate::grammar::{FORMS, MapName, StepForm};

/// Returns the JSON Schema of experiment files (draft 2020-12) as text with a final newline.
pub fn schema() -> String {
    let mut definitions: Map<String, Value> = FORMS.iter().map(|form| (name_of(form), step(form))).collect();
    let steps = FORMS.iter().map(|form| json!({"$ref": format!("#/$defs/{}", name_of(form))}));
    let step = json!({
        "description": "One thing a user does; exactly one verb.",
        "anyOf": steps.collect::<Vec<_>>(),
    });
    definitions.insert("step".to_owned(), step);
    wavetank_grammar::schema::<MapName>(definitions)
}

fn name_of(form: &StepForm) -> String {
    format!("step_{}", form.name)
}

/// Returns the schema of a step with exactly one verb. Each verb has its own keys, so editors offer
/// only keys that fit.
fn step(form: &'static StepForm) -> Value {
    let verbs: Vec<&str> = form.verbs.iter().map(|verb| verb.name).collect();
    object(form.about, form.verbs.iter().chain(form.keys), &verbs)
}
