//! [`knee_html`]: a search as one HTML file that asks no network for anything.

use maud::{Markup, html};
use wavetank_record::{SearchDoc, SearchPointDoc, Status};
use wavetank_units::quantity::show_share;

use super::failed_runs::unheld;
use super::format::limited;
use super::html_chart::charts;
use super::interval_width::width;
use super::observed_levels::{ObservedLevels, held_above_knee, is_low_queued, limit_level, places};
use super::page_words::SearchStrings;
use super::text::{cells, lengths};
use crate::format;
use crate::html::{
    Cell, Document, Language, Section, Strings, Table, command_line, harmless, is_sentence,
    isolate_untrusted, translated, verdict_sign, with_code, with_nonbreaking_units,
};

/// A page of a search under construction.
pub(super) struct SearchPage<'a> {
    pub(super) doc: &'a SearchDoc,
    pub(super) own: &'static SearchStrings,
    pub(super) words: &'static Strings,
    language: Language,
}

/// The answer, the bottleneck, latency against load as a chart and as a table, and how to repeat
/// the search.
pub fn knee_html(doc: &SearchDoc, language: Language) -> String {
    let page =
        SearchPage { doc, own: SearchStrings::for_language(language), words: language.strings(), language };
    let own = page.own;
    let sections = [
        Section::new("levels", own.levels, own.levels_lead, table(&page)),
        Section::new("unheld", own.unheld, own.unheld_lead, runs_unheld(&page)),
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

fn header(page: &SearchPage) -> Markup {
    let doc = page.doc;
    html! {
        header {
            p.kind { (page.own.kind) }
            h1 { (isolate_untrusted(&doc.name)) }
            p.when {
                time datetime=(harmless(&doc.started_at)) { (isolate_untrusted(&doc.started_at)) }
                " · " (format::seconds(doc.took_s)) " · " (isolate_untrusted(&doc.id))
            }
        }
    }
}

fn summary(page: &SearchPage) -> Markup {
    let (doc, own) = (page.doc, page.own);
    let ends = own.ends.iter().find(|(end, ..)| *end == doc.answer.end);
    let &(_, word, means) = ends.unwrap_or(&own.broken_off);
    let is_stored = own.headline.is_none();
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
                    p.headline.sentence[is_stored && is_sentence(&doc.answer.headline)] { (headline(page)) }
                    p.means { (means) }
                }
            }
            (numbers(page))
            (wide(page))
            div.pair {
                div {
                    h3 { (own.asked) }
                    ul { @for threshold in &doc.thresholds { li { code { (isolate_untrusted(threshold)) } } } }
                    (implicit(page))
                    p { (own.target) (page.words.page.colon) (isolate_untrusted(&doc.target)) }
                    p { (effort(page)) }
                }
                @if let Some(blame) = limited(doc) {
                    div {
                        h3 { (page.words.front.limit_owner) }
                        p.owner {
                            ((own.say.owner)(blame)) (page.words.page.colon) (translated(page.language, &doc.answer.limit))
                            @if let Some(level) = limit_level(doc) { ((own.say.broke_at)(&(own.level)(&doc.of, level))) }
                        }
                    }
                }
            }
            (charts(page))
        }
    }
}

/// The implicit thresholds, which judge every run as well.
fn implicit(page: &SearchPage) -> Markup {
    let runs = page.doc.runs.iter().flat_map(|run| &run.thresholds);
    let mut added: Vec<&str> = Vec::new();
    for one in runs.filter(|one| one.implicit) {
        if !added.contains(&one.expr.as_str()) {
            added.push(&one.expr);
        }
    }
    html! {
        @if !added.is_empty() {
            p.aside {
                (page.own.unasked) (page.words.page.colon)
                @for (number, expr) in added.iter().enumerate() {
                    @if number > 0 { (page.words.page.comma) }
                    code.option { (isolate_untrusted(expr)) }
                }
            }
        }
    }
}

/// The answer in one line: as it is stored, or rebuilt from its values. Thresholds in it are not
/// broken across lines.
fn headline(page: &SearchPage) -> Markup {
    let whole = |text: &str| {
        let asked = page.doc.thresholds.iter();
        asked.fold(text.to_owned(), |text, one| text.replace(one.as_str(), &one.replace(' ', "\u{a0}")))
    };
    match page.own.headline {
        None => translated(page.language, &whole(&page.doc.answer.headline)),
        Some(headline) => with_code(&harmless(&whole(&headline(page.doc)))),
    }
}

/// The knee and both ends of its interval; of a search that found no knee the bound.
fn numbers(page: &SearchPage) -> Markup {
    let (doc, own) = (page.doc, page.own);
    let answer = &doc.answer;
    let proven = |proven: bool| if proven { own.proven } else { own.not_proven }.to_owned();
    let confidence = with_nonbreaking_units(&show_share(answer.confidence.0));
    let end = |proven: bool, of: fn(&str) -> String| {
        if proven { of(&confidence) } else { own.not_proven.to_owned() }
    };
    let shown = match answer.end.as_str() {
        "above" | "generator" => vec![(own.holds_up_to, answer.low, proven(answer.low_proven))],
        "below" => {
            let none = ObservedLevels::from_search(doc).none;
            let runs = none.map(|(_, runs)| (own.held_of)("0", &runs.to_string())).unwrap_or_default();
            vec![(own.none_held, none.map(|(level, _)| level), runs)]
        }
        _ => {
            let queued = answer.low_level.filter(|_| is_low_queued(doc));
            let queued = queued.map(|level| (own.less_queued)(&(own.level)(&doc.of, level)));
            let lower = end(answer.low_proven, own.lower_end) + &queued.unwrap_or_default();
            let knee = if held_above_knee(doc).is_some() { own.estimate_queued } else { own.estimate };
            vec![
                (own.lower, answer.low, lower),
                (own.knee, answer.knee, knee.to_owned()),
                (own.upper, answer.high, end(answer.high_proven, own.upper_end)),
            ]
        }
    };
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

/// The causes of the interval's width.
fn wide(page: &SearchPage) -> Markup {
    let (doc, own) = (page.doc, page.own);
    let Some(width) = width(doc) else { return html! {} };
    let level = |level| (own.level)(&doc.of, level);
    let held = |point: &&SearchPointDoc| {
        (own.held_at)([&point.passed.to_string(), &point.runs.to_string(), &level(point.level)])
    };
    let more = (width.more > 0).then(|| (own.more_levels)(width.more));
    let list: Vec<_> = width.disagree.iter().map(held).chain(more).collect();
    html! {
        p.aside {
            @if list.is_empty() { ((own.apart)(width.apart)) } @else { (with_code(&(own.disagree)(&list.join(own.say.and)))) }
            @if let Some(held) = width.queued { (page.words.page.sentence_gap) ((own.queued_part)(&level(held))) }
        }
    }
}

fn effort(page: &SearchPage) -> String {
    let doc = page.doc;
    let (length, took) = (lengths(doc, "–"), format::seconds(doc.took_s));
    (page.own.effort)([&doc.runs.len().to_string(), &length, &took, &doc.seed.to_string()])
}

fn table(page: &SearchPage) -> Markup {
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
    let showed = ObservedLevels::from_search(page.doc);
    for point in &page.doc.curve {
        let mut row: Vec<_> = cells(page.doc, &showed, point).into_iter().map(Cell::Number).collect();
        let tried = point.runs.to_string();
        let held = (own.held_of)(&point.passed.to_string(), &tried);
        row[0] = Cell::Number((own.level)(&page.doc.of, point.level));
        row[1] = match point.generator {
            0 => Cell::Short(html! { (held) }),
            spoiled => Cell::label(&(held + &(own.spoiled)(&spoiled.to_string()))),
        };
        let places: Vec<_> = places(page.doc, &showed, point).into_iter().map(own.say.place).collect();
        row[7] = Cell::label(&places.join(own.say.and));
        table.row(row);
    }
    table.render_in(page.words)
}

/// Why runs of a level did not pass. Without it, a level at which some runs passed would be
/// unexplained.
fn runs_unheld(page: &SearchPage) -> Markup {
    let (doc, own) = (page.doc, page.own);
    let lines = unheld(doc);
    html! {
        @if !lines.is_empty() {
            ul { @for one in &lines { li {
                ((own.level)(&doc.of, one.level)) (page.words.page.colon) ((own.say.fate)(one.fate, one.runs, one.counted))
                @for (at, why) in one.whys.iter().enumerate() {
                    @if at == 0 { (page.words.page.colon) } @else { (own.say.and) }
                    (translated(page.language, why))
                }
                @if one.more > 0 { (own.say.and) ((own.say.more)(one.more)) }
            } } }
        }
    }
}

fn notes(page: &SearchPage) -> Markup {
    html! {
        @if !page.doc.notes.is_empty() {
            ul { @for note in &page.doc.notes { li.sentence[is_sentence(note)] { (translated(page.language, note)) } } }
        }
    }
}

fn repeat(page: &SearchPage) -> Markup {
    html! {
        @if !page.doc.command.is_empty() {
            pre.command tabindex="0" role="region" aria-label=(page.words.facts.command) { (command_line(&page.doc.command)) }
        }
    }
}
