//! A grammar as tables of a page for people, in Markdown.

use std::fmt::Write as _;

use crate::{Grammar, Key, Kind, OwnKind, Section};

/// Heading, words and keys of a map.
pub fn section<G: Grammar>(out: &mut String, section: &Section<G>) {
    heading(out, section.title, section.about);
    table(out, section.keys);
}

/// A heading, and what stands below it.
pub fn heading(out: &mut String, title: &str, about: &str) {
    writeln!(out, "\n## {title}\n\n{about}\n").expect("text takes everything");
}

/// A line for each key.
pub fn table<G: Grammar>(out: &mut String, keys: &[Key<G>]) {
    out.push_str("| key | takes | |\n|---|---|---|\n");
    for key in keys {
        let about = key.about.replace('|', "\\|");
        let required = if key.required { " Required." } else { "" };
        writeln!(out, "| `{}` | {} | {about}{required} |", key.name, takes(&key.kind))
            .expect("text takes everything");
    }
}

fn takes<G: Grammar>(kind: &Kind<G>) -> String {
    match kind {
        Kind::Text => "text".to_owned(),
        Kind::Name => "a name".to_owned(),
        Kind::Bool => "`true`, `false`".to_owned(),
        Kind::Version => "`1`".to_owned(),
        Kind::Count => "a count".to_owned(),
        Kind::Duration => "a duration".to_owned(),
        Kind::Size => "a size".to_owned(),
        Kind::File => "a file's name".to_owned(),
        Kind::Own(own) => own.takes().to_owned(),
        Kind::Word(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        Kind::Is(map) => map.taken(),
        Kind::List(item) => format!("a list: {}", takes(item)),
        Kind::OneOrList(item) => format!("{}, or a list", takes(item)),
        Kind::Map(value) => format!("names: {}", takes(value)),
        Kind::MapOrNothing(value) => format!("names: {}, or nothing", takes(value)),
        Kind::Either(kinds) => kinds.iter().map(takes).collect::<Vec<_>>().join(", or "),
    }
}
