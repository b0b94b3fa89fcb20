//! A section on a page.

use maud::{Markup, html};

use super::model::Section;
use super::page_text::PageText;
use super::table::{Head, Table};
use super::value::{Sign, Value};
use crate::html::{
    Cell, PageContext, Section as PageSection, Table as PageTable, facts, isolate_untrusted, mark,
};

/// Longest name that is kept on one line, in letters. No name of a lab's server is longer; those of
/// another archive may be.
const WHOLE_CHARS: usize = 28;

/// The section with `more` at its end: what only a page shows.
pub(crate) fn page_section(section: &Section, sheet: &PageContext, more: &Markup) -> Option<PageSection> {
    let text = |text: PageText| text.in_language(sheet.language());
    let body = html! { (page_body(section, sheet)) (more) };
    PageSection::new(section.id, text(section.title), text(section.lead), body)
}

/// The facts and the table.
pub(crate) fn page_body(section: &Section, sheet: &PageContext) -> Markup {
    let text = |text: PageText| text.in_language(sheet.language());
    let fact = |value: &Value| {
        html! { @match value {
            Value::Stored(sentences) => { (stored(sheet, sentences)) }
            Value::Name(name) if !name.is_empty() => { (isolate_untrusted(name)) }
            Value::Term(_, term) | Value::Alert(_, term) => { (text(*term)) }
            Value::Page(content) => { (content) }
            value => { (value.plain()) }
        } }
    };
    let rows = section.facts.iter().map(|own| (text(own.term), fact(&own.value)));
    html! { (facts(rows.collect())) (page_table(&section.table, sheet, text(section.title))) }
}

/// The table called `caption`, or the tables into which its columns are split. Each but the first
/// has a heading, and all have the names.
pub(crate) fn page_table(table: &Table, sheet: &PageContext, caption: &str) -> Markup {
    let begins = |place: &usize| *place == 0 || table.heads[*place].begins.is_some();
    let begins: Vec<usize> = (0..table.heads.len()).filter(begins).collect();
    let ends = begins.iter().skip(1).copied().chain([table.heads.len()]);
    html! { @for (begin, end) in begins.iter().copied().zip(ends) { @match table.heads[begin].begins {
        Some(title) if !table.rows.is_empty() => {
            @let title = title.in_language(sheet.language());
            h3 { (title) }
            (one_table(table, sheet, title, std::iter::once(0).chain(begin..end)))
        }
        _ => { (one_table(table, sheet, caption, begin..end)) }
    } } }
}

fn one_table(table: &Table, sheet: &PageContext, title: &str, places: impl Iterator<Item = usize>) -> Markup {
    let heading = |place: usize| table.heads[place].page.in_language(sheet.language());
    let places: Vec<usize> = places.filter(|place| !table.heads[*place].page.is_absent()).collect();
    if places.is_empty() {
        return html! {};
    }
    let heads: Vec<_> = places.iter().map(|place| (heading(*place), table.heads[*place].is_number)).collect();
    let mut drawn = PageTable::new(title, &heads);
    for row in &table.rows {
        drawn
            .row(places.iter().map(|place| cell(sheet, &table.heads[*place], &row.values[*place])).collect());
    }
    drawn.render(sheet)
}

fn cell(sheet: &PageContext, head: &Head, value: &Value) -> Cell {
    match value {
        Value::Nothing if !head.is_number => Cell::label(""),
        Value::Name(name) => Cell::Name(name.clone()),
        Value::WholeName(name) => Cell::whole_up_to(WHOLE_CHARS, name),
        Value::Term(_, text) | Value::Alert(_, text) => Cell::label(text.in_language(sheet.language())),
        Value::Marked(..) => Cell::Any(page_mark(value, sheet)),
        Value::Condition(text, implicit) => Cell::Any(condition(sheet, text, *implicit)),
        Value::Stored(sentences) => Cell::Any(stored(sheet, sentences)),
        Value::Page(content) => Cell::Any(content.clone()),
        Value::Percentile(None) => Cell::Number("–".to_owned()),
        Value::Percentile(Some((_, true))) => Cell::Number(sheet.words.times.above_dropped.to_owned()),
        Value::Nothing | Value::Count(_) | Value::Number(_) | Value::Percentile(_) => {
            Cell::Number(value.plain())
        }
    }
}

/// A judgement with its sign.
pub(crate) fn page_mark(value: &Value, sheet: &PageContext) -> Markup {
    let Value::Marked(sign, _, text) = value else { return html! {} };
    let (class, sign) = match sign {
        Sign::Good => ("good", "✓"),
        Sign::Bad => ("bad", "✗"),
        Sign::Doubt => ("doubt", "?"),
    };
    mark(class, sign, text.in_language(sheet.language()))
}

fn condition(sheet: &PageContext, text: &str, implicit: bool) -> Markup {
    let (open, close) = sheet.words.page.brackets;
    html! {
        code { (isolate_untrusted(text)) }
        @if implicit { small { (open) (sheet.words.marks.implicit) (close) } }
    }
}

fn stored(sheet: &PageContext, sentences: &[String]) -> Markup {
    html! { @match sentences {
        [sentence] => { (sheet.stored(sentence)) }
        sentences => { @for sentence in sentences { div { (sheet.stored(sentence)) } } }
    } }
}
