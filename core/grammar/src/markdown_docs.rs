//! A grammar as tables of a page for people, in Markdown.

use std::fmt::Write as _;

use crate::{CustomKind, Grammar, KeySchema, MapSchema, ValueKind};

/// Heading, description and keys of a map.
pub fn section<G: Grammar>(out: &mut String, section: &MapSchema<G>) {
    heading(out, section.title, section.about);
    table(out, section.keys);
}

/// A heading and the text below it.
pub fn heading(out: &mut String, title: &str, about: &str) {
    writeln!(out, "\n## {title}\n\n{about}\n").expect("text takes everything");
}

/// A line for each key.
pub fn table<G: Grammar>(out: &mut String, keys: &[KeySchema<G>]) {
    out.push_str("| key | takes | |\n|---|---|---|\n");
    for key in keys {
        let about = key.about.replace('|', "\\|");
        let required = if key.required { " Required." } else { "" };
        writeln!(out, "| `{}` | {} | {about}{required} |", key.name, takes(&key.kind))
            .expect("text takes everything");
    }
}

fn takes<G: Grammar>(kind: &ValueKind<G>) -> String {
    match kind {
        ValueKind::Text => "text".to_owned(),
        ValueKind::Name => "a name".to_owned(),
        ValueKind::Bool => "`true`, `false`".to_owned(),
        ValueKind::Version => "`1`".to_owned(),
        ValueKind::Count => "a count".to_owned(),
        ValueKind::Duration => "a duration".to_owned(),
        ValueKind::Size => "a size".to_owned(),
        ValueKind::File => "a file's name".to_owned(),
        ValueKind::Own(own) => own.takes().to_owned(),
        ValueKind::Word(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        ValueKind::Is(map) => map.taken(),
        ValueKind::List(item) => format!("a list: {}", takes(item)),
        ValueKind::OneOrList(item) => format!("{}, or a list", takes(item)),
        ValueKind::Map(value) => format!("names: {}", takes(value)),
        ValueKind::MapOrNothing(value) => format!("names: {}, or nothing", takes(value)),
        ValueKind::Either(kinds) => kinds.iter().map(takes).collect::<Vec<_>>().join(", or "),
    }
}
