//! [`comparison_html`]: a comparison as one HTML file that needs no network.

use maud::{Markup, PreEscaped, html};
use wavetank_record::{CompareAnswer, CompareDoc, MetricDoc, Number, SideDoc};
use wavetank_units::quantity::show_share;

use super::headline::{answer_in, headline_in, is_single_pair};
use super::html_charts::{forest, over_time, spectrum};
use super::html_page::ComparisonPage;
use super::sample_size::more_runs;
use super::strings::CompareStrings;
use super::values::{change_in, interval_in, judgement_in, ratio, value};
use crate::html::{
    Cell, Document, Language, Section, Table, command_line, harmless, is_sentence, isolate_untrusted,
    translated, with_nonbreaking_units,
};
use crate::{CompareSource, format};

/// Values shown in large numbers, if they are known.
const LARGE: [&str; 4] = ["done_rate", "failed", "p50", "p99"];
/// Most targets of a side shown above the answer. All of them are next to their runs.
const TARGETS_MAX: usize = 3;

/// Returns the whole file. It starts with the answer, how certain it is and whether more runs are
/// needed. All values, the sides over time, the runs, and how to repeat the comparison follow.
pub fn comparison_html(source: CompareSource, language: Language) -> String {
    let page = ComparisonPage {
        source,
        own: CompareStrings::for_language(language),
        words: language.strings(),
        language,
    };
    let own = &page.own.page;
    let sections = [
        Section::new("values", own.values, own.values_lead, values(&page)),
        Section::new("course", own.course, own.course_lead, over_time(&page)),
        Section::new("times", own.spectrum, own.spectrum_lead, spectrum(&page)),
        Section::new("runs", own.of_runs, own.of_runs_lead, runs(&page)),
        Section::new("notes", own.notes, "", notes(&page)),
        Section::new("repeat", own.repeat, own.repeat_lead, repeat(&page)),
    ];
    let doc = source.doc;
    let names = [&doc.a, &doc.b].map(|side| side.runs.first().map_or("", |run| run.name.as_str()));
    let document = Document {
        title: format!("{} · {}", answer_in(doc.answer, page.own).0, page.own.kind),
        header: header(&page, names),
        summary: summary(&page),
        sections: sections.into_iter().flatten().collect(),
        made_by: (own.made_by)(&harmless(&doc.version)),
    };
    document.render(page.words).into_string()
}

fn header(page: &ComparisonPage, names: [&str; 2]) -> Markup {
    let doc = page.source.doc;
    let many = [&doc.a, &doc.b].map(|side| (page.own.page.runs)(&side.runs.len().to_string()));
    let targets = [&doc.a, &doc.b].map(targets);
    html! {
        header {
            p.kind { (page.own.kind) }
            h1 { "A " (isolate_untrusted(names[0])) " – B " (isolate_untrusted(names[1])) }
            @if targets[0] == targets[1] {
                p.when {
                    "A" (page.words.page.colon) (many[0]) " · B" (page.words.page.colon) (many[1])
                    @for target in targets[0].iter().take(TARGETS_MAX) { " · " (isolate_untrusted(target)) }
                }
            } @else {
                @for ((side, many), targets) in ["A", "B"].into_iter().zip(&many).zip(&targets) {
                    p.when {
                        (side) (page.words.page.colon) (many)
                        @for target in targets.iter().take(TARGETS_MAX) { " · " (isolate_untrusted(target)) }
                    }
                }
            }
        }
    }
}

/// The targets of a side's load, each once.
fn targets(side: &SideDoc) -> Vec<&str> {
    let mut targets = Vec::new();
    for run in &side.runs {
        if !targets.contains(&run.target.as_str()) {
            targets.push(&run.target);
        }
    }
    targets
}

fn summary(page: &ComparisonPage) -> Markup {
    let (doc, own) = (page.source.doc, &page.own.page);
    let (word, means) = answer_in(doc.answer, page.own);
    html! {
        section id="summary" class="flows" aria-labelledby="summary-title" tabindex="-1" {
            div class={ "verdict " (class(doc.answer)) } {
                (sign(doc.answer))
                div {
                    h2 #summary-title { (word) }
                    p.headline.sentence[begins_sentence(page)] { (harmless(&with_nonbreaking_units(&headline_in(doc, page.own)))) }
                    p.means { (means) }
                }
            }
            @if !doc.warnings.is_empty() {
                h3 { span.mark.doubt { span aria-hidden="true" { "⚠ " } (own.warnings) } }
                ul { @for warning in &doc.warnings { (item(page, warning)) } }
            }
            @if doc.answer == CompareAnswer::Undecided {
                // This comes first, because readers who see the values first take them for a
                // result.
                (trust(page))
                (numbers(page))
            } @else {
                (numbers(page))
                (trust(page))
            }
            @if let Some(svg) = forest(page) {
                (PreEscaped(svg))
                p.aside { (own.forest_lead) }
            }
        }
    }
}

/// The certainty of the answer, and whether more runs would increase it.
fn trust(page: &ComparisonPage) -> Markup {
    let own = &page.own.page;
    html! {
        div.pair {
            div { h3 { (own.how_sure) } (sure(page)) }
            div { h3 { (own.more_runs) } p { (harmless(&with_nonbreaking_units(&more_runs(page)))) } }
        }
    }
}

/// Whether the first line starts with a word. The line of a difference starts with the name of a
/// value.
fn begins_sentence(page: &ComparisonPage) -> bool {
    let is_name = matches!(page.source.doc.answer, CompareAnswer::Difference | CompareAnswer::Regression);
    !is_name && is_sentence(&headline_in(page.source.doc, page.own))
}

/// A stored sentence in a list.
fn item(page: &ComparisonPage, stored: &str) -> Markup {
    html! { li.sentence[is_sentence(stored)] { (translated(page.language, stored)) } }
}

const fn class(answer: CompareAnswer) -> &'static str {
    match answer {
        CompareAnswer::Regression => "fail",
        CompareAnswer::NoRegression => "pass",
        CompareAnswer::Undecided => "invalid",
        CompareAnswer::Difference | CompareAnswer::NoDifference => "incomplete",
    }
}

/// A sign for each kind of answer: an arrow that falls, a tick, a question, unequal, about equal.
fn sign(answer: CompareAnswer) -> Markup {
    let path = match answer {
        CompareAnswer::Regression => {
            r#"<path d="M8 2h8l6 6v8l-6 6H8l-6-6V8z"/><path d="M12 6.5v10m-4-4 4 4 4-4"/>"#
        }
        CompareAnswer::NoRegression => {
            r#"<circle cx="12" cy="12" r="10"/><path d="m7 12.5 3.5 3.5 6.5-7.5"/>"#
        }
        CompareAnswer::Undecided => r#"<path d="M12 3 1.8 21h20.4z"/><path d="M12 9.5v5.5m0 2.4v.6"/>"#,
        CompareAnswer::Difference => {
            r#"<circle cx="12" cy="12" r="10"/><path d="M7 10h10M7 14h10M15 7 9 17"/>"#
        }
        CompareAnswer::NoDifference => r#"<circle cx="12" cy="12" r="10"/><path d="M7 10h10M7 14h10"/>"#,
    };
    html! { svg.sign viewBox="0 0 24 24" aria-hidden="true" focusable="false" { (PreEscaped(path)) } }
}

/// The most relevant values: A, B, and their judgement.
fn numbers(page: &ComparisonPage) -> Markup {
    let of = |name: &&str| page.source.doc.metrics.iter().find(|metric| metric.name == **name);
    let shown: Vec<&MetricDoc> =
        LARGE.iter().filter_map(of).filter(|metric| metric.a.is_some() && metric.b.is_some()).collect();
    html! {
        @if !shown.is_empty() {
            dl.numbers { @for metric in shown { div {
                dt { (metric.name) }
                dd.number.two { (whole(metric, metric.a)) " → " (whole(metric, metric.b)) }
                dd.below { (said(page, metric)) }
            } } }
        }
    }
}

/// A value that is never separated from its unit by a line break.
fn whole(metric: &MetricDoc, of: Option<Number>) -> String {
    value(metric, of).replace(' ', "\u{a0}")
}

/// The judgement of a value: the change if one is shown, with its sign.
fn said(page: &ComparisonPage, metric: &MetricDoc) -> Markup {
    if metric.verdict == "not_judged" {
        return translated(page.language, &metric.why);
    }
    let reported = with_nonbreaking_units(&judgement_in(metric, page.own));
    let grown = metric.ratio.is_some_and(|ratio| ratio.0 > 1.0);
    let own = &page.own.page;
    let (class, is_so) = match (metric.verdict.as_str(), metric.ratio) {
        ("difference", Some(_)) if grown == (metric.better == "more") => ("mark good long", own.better),
        ("difference", _) => ("mark bad long", own.worse),
        _ => return html! { (reported) },
    };
    // The text directly follows the change, because the rest of the sentence is about something
    // else.
    let change = with_nonbreaking_units(&change_in(metric, page.own));
    let (change, rest) = reported
        .split_once(&change)
        .map_or((reported.clone(), ""), |(before, rest)| (format!("{before}{change}"), rest));
    html! { span class=(class) { (change) (page.own.comma) (is_so) (rest) } }
}

fn sure(page: &ComparisonPage) -> Markup {
    let (doc, own) = (page.source.doc, &page.own.page);
    if doc.answer == CompareAnswer::Undecided {
        return html! { p {
            @if is_single_pair(doc) {
                (own.unsure)
                // With several runs on each side, intervals come from the differences between runs.
                @if has_intervals(doc) { (page.words.page.sentence_gap) (own.from_seconds) }
            } @else {
                (own.unsure_of_all)
            }
        } };
    }
    let shown = doc.metrics.iter().filter(|metric| metric.verdict == "difference");
    let surest = shown
        .filter_map(|metric| Some((metric, metric.p_corrected?.0)))
        .min_by(|one, other| one.1.total_cmp(&other.1));
    if surest.is_none() && matches!(doc.answer, CompareAnswer::NoDifference | CompareAnswer::NoRegression) {
        return html! { p { ((own.sure_of_none)(&share(1.0 - doc.level.0))) } };
    }
    html! {
        p { ((own.sure)(&share(doc.level.0))) }
        @if let Some((metric, p)) = surest { p { ((own.by_chance)(&harmless(&metric.name), &chance(p))) } }
    }
}

/// Whether any value has an interval. Single short runs have none.
fn has_intervals(doc: &CompareDoc) -> bool {
    doc.metrics.iter().any(|metric| metric.low.is_some())
}

/// A share in a sentence.
fn share(share: f64) -> String {
    with_nonbreaking_units(&show_share(share))
}

/// A probability as a share. Values below the resolution of the method are shown as a bound.
fn chance(p: f64) -> String {
    if p < 1e-4 { "<\u{a0}0.01\u{a0}%".to_owned() } else { share(p) }
}

fn values(page: &ComparisonPage) -> Markup {
    let own = &page.own.page;
    let heads = [
        (own.value, false),
        ("A", true),
        ("B", true),
        (own.ratio, true),
        (own.interval, true),
        (own.chance, true),
        (own.said, false),
    ];
    let mut table = Table::new(own.values, &heads);
    for metric in &page.source.doc.metrics {
        table.row(vec![
            Cell::whole_up_to(NAME_CHARS, &metric.name),
            Cell::Number(value(metric, metric.a)),
            Cell::Number(value(metric, metric.b)),
            Cell::Number(metric.ratio.map(ratio).unwrap_or_default()),
            Cell::Number(interval_in(metric, page.own)),
            Cell::Number(metric.p_corrected.map(|p| chance(p.0)).unwrap_or_default()),
            Cell::Any(said(page, metric)),
        ]);
    }
    html! {
        @if has_intervals(page.source.doc) { p.aside { (own.own_intervals) } }
        (table.render_in(page.words))
        @if page.source.doc.metrics.iter().any(MetricDoc::is_uncertain) { p.aside { (own.few_above) } }
    }
}

/// No value name of our own is longer than this; with a smaller limit, lines would end inside such
/// names.
const NAME_CHARS: usize = 28;
/// Addresses of up to this many letters are kept on one line, because a port cut in two reads as
/// another one.
const ADDRESS_CHARS: usize = 36;

fn runs(page: &ComparisonPage) -> Markup {
    let own = &page.own.page;
    let heads = [
        (own.side, false),
        (own.id, false),
        (own.name, false),
        (own.started, false),
        (own.duration, true),
        (own.verdict, false),
        (own.load, false),
        (own.target, false),
        (own.version, false),
    ];
    let mut table = Table::new(own.of_runs, &heads);
    let sides = [("A", &page.source.doc.a), ("B", &page.source.doc.b)];
    for (side, run) in sides.iter().flat_map(|(side, all)| all.runs.iter().map(move |run| (side, run))) {
        table.row(vec![
            Cell::label(side),
            Cell::Short(html! { code { (isolate_untrusted(&run.id)) } }),
            Cell::whole_up_to(NAME_CHARS, &run.name),
            Cell::Short(isolate_untrusted(&run.started_at)),
            Cell::Number(format::seconds(run.duration_s)),
            Cell::Short(verdict(page, &run.verdict)),
            Cell::Any(translated(page.language, &run.load)),
            Cell::whole_up_to(ADDRESS_CHARS, &run.target),
            Cell::Short(isolate_untrusted(&run.version)),
        ]);
    }
    table.render_in(page.words)
}

fn verdict(page: &ComparisonPage, word: &str) -> Markup {
    let words = &page.words.verdict;
    html! {
        @match word {
            "pass" => { (words.pass) }
            "fail" => { (words.fail) }
            "invalid" => { (words.invalid) }
            "incomplete" => { (words.incomplete) }
            other => { (isolate_untrusted(other)) }
        }
    }
}

fn notes(page: &ComparisonPage) -> Markup {
    let doc = page.source.doc;
    html! {
        @if !doc.notes.is_empty() { ul { @for note in &doc.notes { (item(page, note)) } } }
        @for next in &doc.next { p { (page.own.page.next) (page.words.page.colon) (translated(page.language, next)) } }
    }
}

fn repeat(page: &ComparisonPage) -> Markup {
    html! {
        pre.command tabindex="0" role="region" aria-label=(page.own.page.command) { (command_line(page.source.command)) }
    }
}
