//! [`Table`]: a table of the page, in a region of its own that scrolls where it is too wide.

use maud::{Markup, html};

use super::page_context::{PageContext, harmless, isolate_untrusted};
use super::strings::Strings;
use crate::format::cut;

/// Rows of a table at most: a run may have thousands of steps, a page has not.
pub(crate) const ROWS_MAX: usize = 200;

/// One cell.
pub(crate) enum Cell {
    /// A name from outside, which may break anywhere; of a very long one begin and end are told.
    Name(String),
    /// The same of what is told piece by piece, each of them cut and harmless.
    Told(Markup),
    /// A number with its unit; stands at the right.
    Number(String),
    /// What is short and reads as one word: no line ends in it.
    Short(Markup),
    /// Anything else.
    Any(Markup),
}

impl Cell {
    /// A name or address from outside, in which no line ends where it has no more letters than so many.
    pub(crate) fn whole_up_to(chars: usize, name: &str) -> Self {
        if name.chars().count() <= chars {
            Self::Short(isolate_untrusted(name))
        } else {
            Self::Name(name.to_owned())
        }
    }

    /// Words of our own.
    pub(crate) fn label(word: &str) -> Self {
        Self::Any(html! { (word) })
    }
}

impl Cell {
    fn is_empty(&self) -> bool {
        match self {
            Self::Name(text) | Self::Number(text) => text.is_empty(),
            Self::Told(markup) | Self::Short(markup) | Self::Any(markup) => markup.0.is_empty(),
        }
    }
}

/// A table with a heading for each column. The first cell of a row names it. Columns in which nothing is told are left out.
pub(crate) struct Table {
    caption: String,
    /// Heading, and whether numbers stand below it.
    heads: Vec<(String, bool)>,
    rows: Vec<Vec<Cell>>,
    /// Rows that were left out.
    more: usize,
}

impl Table {
    /// A table called `caption`; `heads` with whether numbers stand below.
    pub(crate) fn new(caption: &str, heads: &[(&str, bool)]) -> Self {
        let heads = heads.iter().map(|&(head, number)| (head.to_owned(), number)).collect();
        Self { caption: caption.to_owned(), heads, rows: Vec::new(), more: 0 }
    }

    /// One more row; counted only, once there are [`ROWS_MAX`].
    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        if self.rows.len() < ROWS_MAX {
            self.rows.push(cells);
        } else {
            self.more += 1;
        }
    }

    /// Nothing without a row.
    pub(crate) fn render(&self, sheet: &PageContext) -> Markup {
        self.render_in(sheet.words)
    }

    /// The same on a page that is not of one run.
    pub(crate) fn render_in(&self, words: &Strings) -> Markup {
        let Self { caption, heads, rows, more } = self;
        let told = |place: usize| {
            place == 0 || rows.iter().any(|row| row.get(place).is_some_and(|cell| !cell.is_empty()))
        };
        let told: Vec<bool> = (0..heads.len()).map(told).collect();
        let label = (words.page.scrolls)(caption);
        html! {
            @if !rows.is_empty() {
                div.scroll role="region" aria-label=(harmless(&label)) tabindex="0" {
                    table {
                        caption { (harmless(caption)) }
                        thead { tr {
                            @for ((head, number), _) in heads.iter().zip(&told).filter(|(_, told)| **told) {
                                @if head.is_empty() { td {} } @else { th.n[*number] scope="col" { (head) } }
                            }
                        } }
                        tbody { @for row in rows { tr { (render_row(row, &told)) } } }
                    }
                }
                @if *more > 0 { p.aside { ((words.journeys.more_rows)(&more.to_string())) } }
            }
        }
    }
}

fn render_row(row: &[Cell], told: &[bool]) -> Markup {
    let told = |place: &usize| told.get(*place).copied().unwrap_or_default();
    html! {
        @for (place, cell) in row.iter().enumerate().filter(|(place, _)| told(place)) {
            @match (place, cell) {
                (0, Cell::Name(name)) => { th.name scope="row" { (isolate_untrusted(&cut(name))) } }
                (0, Cell::Told(told)) => { th.name scope="row" { bdi { (told) } } }
                (0, Cell::Number(number)) => { th.n scope="row" { (number) } }
                (0, Cell::Short(any) | Cell::Any(any)) => { th scope="row" { (any) } }
                (_, Cell::Name(name)) => { td.name { (isolate_untrusted(&cut(name))) } }
                (_, Cell::Told(told)) => { td.name { bdi { (told) } } }
                (_, Cell::Number(number)) => { td.n { (number) } }
                (_, Cell::Short(short)) => { td.short { (short) } }
                (_, Cell::Any(any)) => { td.text { (any) } }
            }
        }
    }
}

/// Terms and what is said of each; those of which nothing is said are left out.
pub(crate) fn facts(rows: Vec<(&str, Markup)>) -> Markup {
    let rows: Vec<_> = rows.into_iter().filter(|(_, said)| !said.0.is_empty()).collect();
    html! {
        @if !rows.is_empty() {
            dl.facts { @for (term, said) in rows { div { dt { (term) } dd { (said) } } } }
        }
    }
}
