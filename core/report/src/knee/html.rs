//! [`knee_html`]: a search as one HTML file that asks no network for anything.

use maud::{Markup, PreEscaped, html};
use wavetank_record::{Number, SearchDoc, SearchPointDoc, Status};

use super::page_words::KneeWords;
use super::queued::knee_queued;
use super::text::{cells, lengths, level_ends};
use super::words::limited;
use crate::chart::{Curve, CurvePoint, CurveSeries, Frame, Tone, Unit};
use crate::html::{
    Cell, Document, Language, Section, Table, Words, chart_words, command_line, harmless, outside, stored_in,
    verdict_sign,
};
use crate::units;

/// The percentiles drawn: name, and how a level has it.
type Drawn = (&'static str, fn(&SearchPointDoc) -> Option<Number>);
const DRAWN: [Drawn; 3] =
    [("p50", |point| point.p50_us), ("p95", |point| point.p95_us), ("p99", |point| point.p99_us)];

/// A page of a search under construction.
struct Page<'a> {
    doc: &'a SearchDoc,
    own: &'static KneeWords,
    words: &'static Words,
    language: Language,
}

/// The answer, whose limit it was, latency against load as a chart and as a table, and how to do it again.
pub fn knee_html(doc: &SearchDoc, language: Language) -> String {
    let page = Page { doc, own: KneeWords::of(language), words: language.words(), language };
    let own = page.own;
    let sections = [
        Section::new("levels", own.levels, own.levels_lead, table(&page)),
        Section::new("notes", own.notes, "", notes(&page)),
        Section::new("repeat", own.repeat, own.repeat_lead, repeat(&page)),
    ];
    let document = Document {
        title: format!("{} · {}", harmless(&doc.name), own.kind),
        header: header(&page),
        summary: summary(&page),
        sections: sections.into_iter().flatten().collect(),
        made_by: (own.made_by)(&harmless(&doc.version)),
    };
    document.render(page.words).into_string()
}

fn header(page: &Page) -> Markup {
    let doc = page.doc;
    html! {
        header {
            p.kind { (page.own.kind) }
            h1 { (outside(&doc.name)) }
            p.when {
                time datetime=(harmless(&doc.started_at)) { (outside(&doc.started_at)) }
                " · " (units::seconds(doc.took_s)) " · " (outside(&doc.id))
            }
        }
    }
}

fn summary(page: &Page) -> Markup {
    let (doc, own) = (page.doc, page.own);
    let ends = own.ends.iter().find(|(end, ..)| *end == doc.answer.end);
    let &(_, word, means) = ends.unwrap_or(&own.broken_off);
    let status = match (doc.answer.end.as_str(), doc.answer.exit) {
        ("found" | "above", 0) => Status::Pass,
        ("below", _) => Status::Fail,
        ("generator", _) => Status::Invalid,
        _ => Status::Incomplete,
    };
    html! {
        section #summary aria-labelledby="summary-title" tabindex="-1" {
            div class={ "verdict " (status.name()) } {
                (verdict_sign(status))
                div {
                    h2 #summary-title { (word) }
                    p.headline { (headline(page)) }
                    p.means { (means) }
                }
            }
            (numbers(page))
            div.pair {
                div {
                    h3 { (own.asked) }
                    ul { @for threshold in &doc.thresholds { li { code { (outside(threshold)) } } } }
                    p { (own.target) (page.words.page.colon) (outside(&doc.target)) }
                    p { (effort(page)) }
                }
                @if let Some(blame) = limited(doc) {
                    div {
                        h3 { (page.words.front.whose_limit) }
                        p.whose { ((own.limit_of)(blame)) (page.words.page.colon) (stored_in(page.language, &doc.answer.limit)) }
                    }
                }
            }
            (PreEscaped(chart(page)))
        }
    }
}

/// The answer in one line: as it is stored, or said again from its values.
fn headline(page: &Page) -> Markup {
    match page.own.headline {
        None => stored_in(page.language, &kept_together(&page.doc.answer.headline)),
        Some(headline) => html! { (harmless(&kept_together(&headline(page.doc)))) },
    }
}

/// A number and its sign are one word: no line may end between them.
fn kept_together(text: &str) -> String {
    text.replace(" %", "\u{a0}%")
}

/// The knee and both ends of its interval.
fn numbers(page: &Page) -> Markup {
    let (doc, own) = (page.doc, page.own);
    let answer = &doc.answer;
    let proven = |proven: bool| if proven { own.proven } else { own.not_proven }.to_owned();
    let queued = knee_queued(doc).and(answer.low_level).filter(|_| answer.low_proven);
    let lower = queued.map(|level| (own.less_queued)(&(own.level)(&doc.of, level)));
    let shown = [
        (own.lower, answer.low, lower.unwrap_or_else(|| proven(answer.low_proven))),
        (own.knee, answer.knee, own.knee_means.to_owned()),
        (own.upper, answer.high, proven(answer.high_proven)),
    ];
    html! {
        @if shown.iter().any(|(_, level, _)| level.is_some()) {
            dl.numbers { @for (name, level, below) in shown { @if let Some(level) = level { div {
                dt { (name) }
                dd.number { ((own.level)(&doc.of, level)) }
                dd.below { (below) }
            } } } }
        }
    }
}

fn effort(page: &Page) -> String {
    let doc = page.doc;
    let (length, took) = (lengths(doc, "–"), units::seconds(doc.took_s));
    (page.own.effort)([&doc.runs.len().to_string(), &length, &took, &doc.seed.to_string()])
}

fn chart(page: &Page) -> String {
    let doc = page.doc;
    let series = DRAWN.iter().map(|(name, of)| {
        let points: Vec<_> = doc
            .curve
            .iter()
            .filter_map(|point| Some((point.level.0, of(point)?.as_nanos())))
            .map(|(x, y)| CurvePoint { x, y, between: None })
            .collect();
        let line = points.iter().map(|point| (point.x, point.y)).collect();
        CurveSeries { name: (*name).to_owned(), points, line, tone: Tone::Next }
    });
    let ends = [doc.answer.low, doc.answer.knee, doc.answer.high];
    let marked = match ends {
        [Some(low), Some(knee), Some(high)] => Some((page.own.knee.to_owned(), [low.0, knee.0, high.0])),
        _ => None,
    };
    let curve = Curve {
        frame: Frame::new("latency-load", page.own.chart, chart_words(page.words)).high(280),
        x_name: (page.own.of)(&doc.of),
        x: if doc.unit == "per_s" { Unit::Rate } else { Unit::Count },
        y: Unit::Time,
        x_log: true,
        series: series.collect(),
        marked,
        limits: Vec::new(),
    };
    curve.draw()
}

fn table(page: &Page) -> Markup {
    let own = page.own;
    let heads = [
        ((own.of)(&page.doc.of), true),
        (own.held, false),
        (own.done, true),
        ("p50", true),
        ("p95", true),
        ("p99", true),
        ("p99.9", true),
        (own.place, false),
    ];
    let mut table = Table::new(own.levels, &heads);
    for point in &page.doc.curve {
        let mut row: Vec<_> = cells(page.doc, point).into_iter().map(Cell::Number).collect();
        let tried = point.runs.to_string();
        let held = (own.held_of)(&point.passed.to_string(), &tried);
        let spoiled = match point.generator {
            0 => String::new(),
            spoiled => (own.spoiled)(&spoiled.to_string()),
        };
        row[0] = Cell::Number((own.level)(&page.doc.of, point.level));
        row[1] = Cell::word(&(held + &spoiled));
        let place = match level_ends(page.doc, point) {
            [true, _] => own.holds,
            [_, true] => own.holds_no_more,
            _ => "",
        };
        row[7] = Cell::word(place);
        table.row(row);
    }
    table.render_in(page.words)
}

fn notes(page: &Page) -> Markup {
    html! {
        @if !page.doc.notes.is_empty() {
            ul { @for note in &page.doc.notes { li { (stored_in(page.language, note)) } } }
        }
    }
}

fn repeat(page: &Page) -> Markup {
    html! {
        @if !page.doc.command.is_empty() {
            pre.command tabindex="0" role="region" aria-label=(page.words.facts.command) { (command_line(&page.doc.command)) }
        }
    }
}
