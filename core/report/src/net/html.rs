//! [`net_html`]: measurements of a network as one HTML file that asks no network for anything.

use maud::{Markup, html};
use wavetank_record::NetDoc;
use wavetank_units::quantity::show_link;

use super::charts::charts;
use super::matrix::{Matrix, best};
use super::text::net_text;
use crate::format;
use crate::html::{
    Cell, Document, Language, Section, Strings, Table, command_line, harmless, isolate_untrusted,
};

/// The page: findings, the matrix of all pairs, charts of each pair, and the text.
pub fn net_html(doc: &NetDoc) -> String {
    let words = Language::English.strings();
    let sections = [
        Section::new(
            "matrix",
            "Throughput of all pairs",
            "TCP, from the host of the row to that of the column, one direction at a time.",
            matrix(doc, words),
        ),
        Section::new("pairs", "Charts of each pair", "", pairs(doc)),
        Section::new(
            "values",
            "All values",
            "The arrow → is from the first host of a pair to the second.",
            values(doc),
        ),
        Section::new("repeat", "Measure again", "", repeat(doc)),
    ];
    let document = Document {
        title: format!("{} · network", harmless(&doc.name)),
        header: header(doc),
        summary: summary(doc, words),
        sections: sections.into_iter().flatten().collect(),
        made_by: format!("Made by wavetank {} from net.json.", harmless(&doc.version)),
    };
    document.render(words).into_string()
}

fn header(doc: &NetDoc) -> Markup {
    html! {
        header {
            p.kind { "Network measurements" }
            h1 { (isolate_untrusted(&doc.name)) }
            p.when {
                time datetime=(harmless(&doc.started_at)) { (isolate_untrusted(&doc.started_at)) }
                " · " (format::seconds(doc.took_s)) " · " (isolate_untrusted(&doc.id))
            }
        }
    }
}

fn summary(doc: &NetDoc, words: &Strings) -> Markup {
    let failed = doc.pairs.iter().filter(|pair| !pair.failures.is_empty()).count();
    html! {
        section #summary aria-labelledby="summary-title" tabindex="-1" {
            h2 #summary-title { "Findings" }
            @if doc.findings.is_empty() && failed == 0 { p { "Nothing conspicuous was found." } }
            @if !doc.findings.is_empty() {
                ul { @for finding in &doc.findings { li {
                    (isolate_untrusted(&finding.message)) " " code { (isolate_untrusted(&finding.code)) }
                    p.aside { (isolate_untrusted(&finding.hint)) }
                } } }
            }
            @if failed > 0 {
                h3 { "What could not be measured" }
                ul { @for failure in doc.pairs.iter().flat_map(|pair| &pair.failures) { li {
                    (isolate_untrusted(&failure.message)) " " code { (isolate_untrusted(&failure.code)) }
                } } }
            }
            (overview(doc, words))
        }
    }
}

/// A row for each pair.
fn overview(doc: &NetDoc, words: &Strings) -> Markup {
    let heads = [
        ("pair", false),
        ("tcp →", true),
        ("tcp ←", true),
        ("round trip p50", true),
        ("connections", true),
        ("mtu", true),
    ];
    let mut table = Table::new("Pairs", &heads);
    for pair in &doc.pairs {
        let rate = |direction| best(pair, direction).map(show_link).unwrap_or_default();
        let mtu = pair.mtu.as_ref().and_then(|mtu| mtu.forward.min(mtu.reverse));
        table.row(vec![
            Cell::Name(format!("{} → {}", pair.from, pair.to)),
            Cell::Number(rate("forward")),
            Cell::Number(rate("reverse")),
            Cell::Number(pair.rr.as_ref().map(|rr| format::time(rr.round_trip_us.p50)).unwrap_or_default()),
            Cell::Number(
                pair.connect
                    .as_ref()
                    .map(|connect| wavetank_units::quantity::show_rate(connect.per_s.0))
                    .unwrap_or_default(),
            ),
            Cell::Number(mtu.map(|mtu| mtu.to_string()).unwrap_or_default()),
        ]);
    }
    table.render_in(words)
}

fn matrix(doc: &NetDoc, words: &Strings) -> Markup {
    let Some(matrix) = Matrix::new(doc) else { return html! {} };
    let heads: Vec<(&str, bool)> =
        std::iter::once(("from", false)).chain(matrix.hosts.iter().map(|host| (*host, true))).collect();
    let mut table = Table::new("TCP throughput", &heads);
    for (host, row) in matrix.hosts.iter().zip(&matrix.rows) {
        let cells = row.iter().map(|value| Cell::Number(value.map_or_else(|| "·".to_owned(), show_link)));
        table.row(std::iter::once(Cell::Name((*host).to_owned())).chain(cells).collect());
    }
    table.render_in(words)
}

fn pairs(doc: &NetDoc) -> Markup {
    let drawn = doc.pairs.iter().enumerate().map(|(number, pair)| (pair, charts(pair, number)));
    let drawn: Vec<_> = drawn.filter(|(_, charts)| !charts.0.is_empty()).collect();
    html! {
        @for (pair, charts) in drawn {
            h3 { (isolate_untrusted(&pair.from)) " → " (isolate_untrusted(&pair.to)) }
            (charts)
        }
    }
}

fn values(doc: &NetDoc) -> Markup {
    html! {
        pre.command tabindex="0" role="region" aria-label="All values" {
            @for line in net_text(doc).lines() { (isolate_untrusted(line)) "\n" }
        }
    }
}

fn repeat(doc: &NetDoc) -> Markup {
    html! {
        @if !doc.command.is_empty() {
            pre.command tabindex="0" role="region" aria-label="Command" { (command_line(&doc.command)) }
        }
    }
}
