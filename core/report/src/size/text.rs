//! [`size_text`]: the text that `wavetank size` prints.

use wavetank_record::{AnswerDoc, SizeDoc, TierDoc};

use crate::text_layout::{TextLayout, pad, pad_left, width, wrapped};

/// Minimum number of columns of a table.
const COLUMNS_MIN: usize = 60;
/// Columns of a number's name.
const NAME: usize = 21;
/// Columns of the number.
const VALUE: usize = 13;
/// Definition of `least`, which the commands use.
const LEAST: [&str; 3] = [
    "least() { # name value: raises what is lower",
    "  [ \"$(sysctl -n $1 | awk '{print $NF}')\" -ge \"${2##* }\" ] ||",
    "  sysctl -w \"$1=$2\"; }",
];
/// Columns of a command; a longer one has its formula below.
const COMMAND: usize = 44;

/// The sizing as text of at most `columns` columns (60 at the least), ending in a newline.
pub fn size_text(doc: &SizeDoc, columns: usize) -> String {
    let columns = columns.max(COLUMNS_MIN);
    let mut page = TextLayout::with_width(columns);
    if !doc.target.is_empty() {
        page.sentence("size", &doc.target);
    }
    rows(&mut page, doc, "asked", doc.asked.iter().filter(|one| !is_nought(one)));
    page.line("");
    hosts(&mut page, doc);
    lacking(&mut page, doc);
    for group in ["ports", "memory", "network"] {
        if doc.answers.iter().any(|one| one.group == group) {
            page.line("");
        }
        rows(
            &mut page,
            doc,
            group,
            doc.answers.iter().filter(|one| one.group == group && !one.what.ends_with("_packets")),
        );
    }
    compare(&mut page, doc);
    tunings(&mut page, doc, columns);
    page.line("");
    doc.notes.iter().for_each(|note| page.sentence("note", note));
    let said = |given: bool| -> Vec<String> {
        let own = doc.settings.iter().filter(|setting| setting.given == given);
        own.map(|setting| {
            let why =
                if given || setting.why.is_empty() { String::new() } else { format!(" ({})", setting.why) };
            format!("{} {}{why}", setting.name, setting.value)
        })
        .collect()
    };
    page.parts("given", &said(true));
    page.parts("defaults", &said(false));
    page.into_text()
}

/// Rates that are zero have no line.
fn is_nought(one: &AnswerDoc) -> bool {
    one.value.0 == 0.0 && one.unit == "per_s"
}

fn rows<'d>(page: &mut TextLayout, doc: &SizeDoc, label: &str, answers: impl Iterator<Item = &'d AnswerDoc>) {
    for (at, one) in answers.enumerate() {
        let label = if at == 0 { label } else { "" };
        row(page, label, &named(one, doc), &one.shown, &with_packets(one, doc));
    }
}

/// The formula; for a link with its packets before it.
fn with_packets(one: &AnswerDoc, doc: &SizeDoc) -> String {
    let packets = format!("{}_packets", one.what);
    let found = doc.answers.iter().find(|other| other.role == one.role && other.what == packets);
    let before = found.map(|found| format!("{} packets; ", found.shown)).unwrap_or_default();
    format!("{before}{}", one.formula)
}

/// Name, right-aligned number, formula next to it.
fn row(page: &mut TextLayout, label: &str, name: &str, value: &str, formula: &str) {
    let word = format!("{} {}", pad(name, NAME), pad_left(value, VALUE));
    let columns = width(&word).max(NAME + 1 + VALUE);
    if formula.is_empty() {
        page.labelled(label, &[word]);
    } else {
        page.entry(label, &word, columns + 1, formula);
    }
}

/// The name shown for a number.
fn named(one: &AnswerDoc, doc: &SizeDoc) -> String {
    let tier = doc.hosts.iter().find(|tier| tier.role == one.role);
    let of_host = |before: &str| format!("{before}{}", tier.map_or_else(String::new, called));
    let what = match one.what.as_str() {
        "requests_per_s" => "requests per second",
        "opens_per_s" => "new connections",
        "opening_per_s" => "opening them",
        "each_sends_every" => "each sends every",
        "opening_takes" => "opening them takes",
        "in_flight" => "requests in flight",
        "requests_in_all" => "total requests",
        "source_addresses" => "source addresses",
        "addresses_each" => "of them on each host",
        "connections_by_ports" if one.role == "load" => "one address each",
        "connections_by_ports" => "with these back ends",
        "connections_by_sources" => "of --source",
        "or_targets" => "or pairs to connect to",
        "established" => "established sockets",
        "backend_tuples" => "back-end tuples",
        "quick_tuples" => "to connect quickly",
        "ports_each" => "ports of each server",
        "memory_each" => return of_host(""),
        "request_up" => "a request, up",
        "answer_down" => "its answer, down",
        "connection_up" => "a connection, up",
        "connection_down" => "a connection, down",
        "in" => return of_host("into "),
        "out" => return of_host("out of "),
        other => other,
    };
    what.to_owned()
}

/// `each load host`, or all of them if their number is unknown.
fn called(tier: &TierDoc) -> String {
    let alone = !tier.bounded && tier.have.is_none();
    match (tier.role.as_str(), alone) {
        ("load", false) => "each load host".to_owned(),
        ("load", true) => "all load hosts".to_owned(),
        (role, false) => format!("each {role}"),
        (role, true) => format!("all {role}s"),
    }
}

fn hosts(page: &mut TextLayout, doc: &SizeDoc) {
    for (at, tier) in doc.hosts.iter().enumerate() {
        let label = if at == 0 { "hosts" } else { "" };
        let name = match tier.role.as_str() {
            "load" => "load hosts",
            "balancer" => "balancers",
            _ => "servers",
        };
        let least = if tier.bounded { "" } else { "at least " };
        row(page, label, name, &format!("{least}{}", tier.needed), &why(tier));
    }
}

/// `⌈1M/s ÷ 270k/s⌉ = 4, + 1 spare; there are 6`.
fn why(tier: &TierDoc) -> String {
    let spare = if tier.spare > 0 { format!(" + {} spare", tier.spare) } else { String::new() };
    let have = tier
        .have
        .map_or_else(String::new, |have| format!("; there {} {have}", if have == 1 { "is" } else { "are" }));
    let Some(first) = tier.limits.first() else {
        let measured = if tier.role == "load" { " (wavetank calibrate measures it)" } else { "" };
        return format!(
            "unknown capacity: measure one host and pass --capacity {}=RATE{measured}{spare}{have}",
            tier.role
        );
    };
    let others: Vec<String> =
        tier.limits[1..].iter().map(|limit| format!("{} {}", limit.what, limit.hosts)).collect();
    let others = if others.is_empty() { String::new() } else { format!(" (by {})", others.join(", ")) };
    format!("{}{spare}{others}{have}", first.formula)
}

/// Resources that are not sufficient.
fn lacking(page: &mut TextLayout, doc: &SizeDoc) {
    for lack in &doc.lacking {
        page.sentence("TOO FEW", &lack.message);
        page.sentence("", &format!("hint: {}", lack.hint));
    }
}

/// Commands by role, each with its formula as a comment.
fn tunings(page: &mut TextLayout, doc: &SizeDoc, columns: usize) {
    if doc.tunings.is_empty() {
        return;
    }
    page.line("");
    page.line("# minimum kernel settings: run as root");
    if doc.tunings.iter().any(|one| one.command.starts_with("least ")) {
        for line in LEAST {
            page.line(line);
        }
    }
    for tier in &doc.hosts {
        let own: Vec<_> = doc.tunings.iter().filter(|one| one.role.name() == tier.role).collect();
        if !own.is_empty() {
            page.line(&format!("# on {}", called(tier)));
        }
        for one in own {
            let room = columns.saturating_sub(COMMAND + 4).max(20);
            let mut comments = wrapped(&one.formula, room).into_iter().map(|line| format!("# {line}"));
            if width(&one.command) > COMMAND {
                page.line(&one.command);
            } else {
                let first = comments.next().unwrap_or_default();
                page.line(&format!("{}  {first}", pad(&one.command, COMMAND)));
            }
            for line in comments {
                page.line(&format!("{}  {line}", pad("", COMMAND)));
            }
        }
    }
}

/// One row per number, one column per load.
fn compare(page: &mut TextLayout, doc: &SizeDoc) {
    let Some(first) = doc.compare.first() else { return };
    page.line("");
    let heads: Vec<String> = doc.compare.iter().map(|column| pad_left(&column.name, 16)).collect();
    page.labelled("compare", &[format!("{}{}", pad("", NAME), heads.join(""))]);
    for (at, (name, _)) in first.rows.iter().enumerate() {
        let values: Vec<String> = doc
            .compare
            .iter()
            .map(|column| pad_left(column.rows.get(at).map_or("", |row| row.1.as_str()), 16))
            .collect();
        page.labelled("", &[format!("{}{}", pad(name, NAME), values.join(""))]);
    }
}
