//! [`page`]: the grammar as a page for people, `docs/experiment.md`.

use std::fmt::Write as _;

use crate::grammar::{FORMS, Key, Kind, Room};

/// The page, as Markdown.
pub fn page() -> String {
    let mut out = include_str!("page_head.md").to_owned();
    for room in Room::ALL {
        let section = room.section();
        if matches!(room, Room::Choice | Room::MultipartFile | Room::Event) {
            continue;
        }
        heading(&mut out, section.title, section.about);
        table(&mut out, section.keys);
        if room == Room::Scenario {
            steps(&mut out);
        }
    }
    heading(&mut out, Room::Event.section().title, Room::Event.section().about);
    table(&mut out, Room::Event.section().keys);
    out.push('\n');
    out.push_str(include_str!("page_tail.md"));
    out
}

fn heading(out: &mut String, title: &str, about: &str) {
    writeln!(out, "\n## {title}\n\n{about}\n").expect("text takes everything");
}

fn table(out: &mut String, keys: &[Key]) {
    out.push_str("| key | takes | |\n|---|---|---|\n");
    for key in keys {
        let about = key.about.replace('|', "\\|");
        let required = if key.required { " Required." } else { "" };
        writeln!(out, "| `{}` | {} | {about}{required} |", key.name, takes(&key.kind))
            .expect("text takes everything");
    }
}

fn steps(out: &mut String) {
    heading(out, "Steps", "A step is a map with exactly one verb; the other keys belong to it.");
    for form in FORMS {
        writeln!(out, "### {}\n\n{}\n", form.title, form.about).expect("text takes everything");
        table(out, form.verbs);
        if !form.keys.is_empty() {
            out.push_str("\nBeside it:\n\n");
            table(out, form.keys);
        }
        out.push('\n');
        for room in [Room::MultipartFile, Room::Choice] {
            if uses(form.keys, room) || uses(form.verbs, room) {
                writeln!(out, "{}\n", room.section().about).expect("text takes everything");
                table(out, room.section().keys);
                out.push('\n');
            }
        }
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
}

fn uses(keys: &[Key], room: Room) -> bool {
    fn within(kind: &Kind, room: Room) -> bool {
        match kind {
            Kind::Is(own) => *own == room,
            Kind::List(inner) | Kind::OneOrList(inner) | Kind::Map(inner) => within(inner, room),
            Kind::Either(kinds) => kinds.iter().any(|kind| within(kind, room)),
            _ => false,
        }
    }
    keys.iter().any(|key| within(&key.kind, room))
}

fn takes(kind: &Kind) -> String {
    let word = match kind {
        Kind::Text => "text",
        Kind::Name => "a name",
        Kind::Template => "text with templates",
        Kind::Bool => "`true`, `false`",
        Kind::Version => "`1`",
        Kind::Count => "a count",
        Kind::Duration => "a duration",
        Kind::Rate => "a rate",
        Kind::Size => "a size",
        Kind::CountRange => "a count, or A to B",
        Kind::RateRange => "a rate, or A to B",
        Kind::CountOrRate => "a count or rate",
        Kind::Sessions => "a count, or N each",
        Kind::Spike => "RATE for DURATION every DURATION",
        Kind::Url => "a URL",
        Kind::File => "a file's name",
        Kind::Statuses => "statuses",
        Kind::Condition => "a condition on the run",
        Kind::Check => "a condition on the answer",
        Kind::Think => "a think time",
        Kind::From => "a part of the answer",
        Kind::Auth => "kind and credentials",
        Kind::Value => "any value",
        Kind::Steps => "steps",
        Kind::Word(words) => {
            return words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        }
        Kind::Is(room) => return room.section().name.to_owned(),
        Kind::List(item) => return format!("a list: {}", takes(item)),
        Kind::OneOrList(item) => return format!("{}, or a list", takes(item)),
        Kind::Map(value) => return format!("names: {}", takes(value)),
        Kind::Either(kinds) => return kinds.iter().map(takes).collect::<Vec<_>>().join(", or "),
    };
    word.to_owned()
}
