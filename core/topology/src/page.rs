//! [`page`]: the grammar as a page for people, `docs/lab-file.md`.

use std::fmt::Write as _;

use crate::grammar::{Kind, Room, Section};

/// The page, as Markdown.
pub fn page() -> String {
    let mut out = include_str!("page_head.md").to_owned();
    for room in Room::ALL {
        table(&mut out, room.section());
    }
    out.push('\n');
    out.push_str(include_str!("page_tail.md"));
    out
}

fn table(out: &mut String, section: &Section) {
    writeln!(out, "\n## {}\n\n{}\n", section.title, section.about).expect("text takes everything");
    out.push_str("| key | takes | |\n|---|---|---|\n");
    for key in section.keys {
        let about = key.about.replace('|', "\\|");
        let required = if key.required { " Required." } else { "" };
        writeln!(out, "| `{}` | {} | {about}{required} |", key.name, takes(&key.kind))
            .expect("text takes everything");
    }
}

fn takes(kind: &Kind) -> String {
    let word = match kind {
        Kind::Text => "text",
        Kind::Name => "a name",
        Kind::Bool => "`true`, `false`",
        Kind::Version => "`1`",
        Kind::Count => "a count",
        Kind::Duration => "a duration",
        Kind::Size => "a size",
        Kind::Share => "a share",
        Kind::Link => "a link's rate",
        Kind::Subnet => "a network: `10.30.0.0/24`",
        Kind::Destination => "a network, or `default`",
        Kind::Address => "an address",
        Kind::Addresses => "an address, or A to B",
        Kind::Ports => "a port, or A to B, or a list",
        Kind::Cpus => "CPUs: `0-3`, `\"0,2\"`",
        Kind::Path => "a path",
        Kind::File => "a file's name",
        Kind::Mode => "permission bits",
        Kind::Servers => "`\"HOSTS:PORT\"`",
        Kind::Scalar => "a value",
        Kind::Never => "`false`",
        Kind::Word(words) => {
            return words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        }
        Kind::Is(room) => return room.section().title.to_lowercase(),
        Kind::List(item) => return format!("a list: {}", takes(item)),
        Kind::OneOrList(item) => return format!("{}, or a list", takes(item)),
        Kind::Map(value) => return format!("names: {}", takes(value)),
        Kind::MapOrNothing(value) => return format!("names: {}, or nothing", takes(value)),
        Kind::Either(kinds) => return kinds.iter().map(takes).collect::<Vec<_>>().join(", or "),
    };
    word.to_owned()
}
