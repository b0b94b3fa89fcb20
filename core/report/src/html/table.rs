//! [`Table`]: a table of the page, in a region that scrolls if it is too wide.

use maud::{Markup, html};

use super::page_context::{PageContext, harmless, isolate_untrusted};
use super::strings::Strings;
use crate::format::cut;

/// Most rows of a table. A run may have thousands of steps, a page may not.
pub(crate) const ROWS_MAX: usize = 200;

/// One cell.
pub(crate) enum Cell {
    /// A name from outside, which may break anywhere. A very long one is cut to its start and its
    /// end.
    Name(String),
    /// The same for text composed of several names, each already cut and harmless.
    Reported(Markup),
    /// A number with its unit; right-aligned.
    Number(String),
    /// A short text that is kept on one line.
    Short(Markup),
    /// Anything else.
    Any(Markup),
}

impl Cell {
    /// A name or address from outside, kept on one line if it has at most `chars` letters.
    pub(crate) fn whole_up_to(chars: usize, name: &str) -> Self {
        if name.chars().count() <= chars {
            Self::Short(isolate_untrusted(name))
        } else {
            Self::Name(name.to_owned())
        }
    }

    /// A text of our own.
    pub(crate) fn label(word: &str) -> Self {
        Self::Any(html! { (word) })
    }
}

impl Cell {
    fn is_empty(&self) -> bool {
        match self {
            Self::Name(text) | Self::Number(text) => text.is_empty(),
            Self::Reported(markup) | Self::Short(markup) | Self::Any(markup) => markup.0.is_empty(),
        }
    }
}

/// A table with a heading for each column. The first cell of a row names it. Empty columns are left
/// out.
pub(crate) struct Table {
    caption: String,
    /// Heading, and whether the column has numbers.
    heads: Vec<(String, bool)>,
    rows: Vec<Vec<Cell>>,
    /// Rows that were left out.
    more: usize,
}

impl Table {
    /// A table called `caption`. `heads` are the headings, each with whether its column has
    /// numbers.
    pub(crate) fn new(caption: &str, heads: &[(&str, bool)]) -> Self {
        let heads = heads.iter().map(|&(head, number)| (head.to_owned(), number)).collect();
        Self { caption: caption.to_owned(), heads, rows: Vec::new(), more: 0 }
    }

    /// Adds a row; once there are [`ROWS_MAX`], rows are counted only.
    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        if self.rows.len() < ROWS_MAX {
            self.rows.push(cells);
        } else {
            self.more += 1;
        }
    }

    /// Empty without a row.
    pub(crate) fn render(&self, sheet: &PageContext) -> Markup {
        self.render_in(sheet.words)
    }

    /// The same on a page that is not about one run.
    pub(crate) fn render_in(&self, words: &Strings) -> Markup {
        let Self { caption, heads, rows, more } = self;
        let reported = |place: usize| {
            place == 0 || rows.iter().any(|row| row.get(place).is_some_and(|cell| !cell.is_empty()))
        };
        let reported: Vec<bool> = (0..heads.len()).map(reported).collect();
        let label = (words.page.scrolls)(caption);
        html! {
            @if !rows.is_empty() {
                div.scroll role="region" aria-label=(harmless(&label)) tabindex="0" {
                    table {
                        caption { (harmless(caption)) }
                        thead { tr {
                            @for ((head, number), _) in heads.iter().zip(&reported).filter(|(_, reported)| **reported) {
                                @if head.is_empty() { td {} } @else { th.n[*number] scope="col" { (head) } }
                            }
                        } }
                        tbody { @for row in rows { tr { (render_row(row, &reported)) } } }
                    }
                }
                @if *more > 0 { p.aside { ((words.journeys.more_rows)(&more.to_string())) } }
            }
        }
    }
}

fn render_row(row: &[Cell], reported: &[bool]) -> Markup {
    let reported = |place: &usize| reported.get(*place).copied().unwrap_or_default();
    html! {
        @for (place, cell) in row.iter().enumerate().filter(|(place, _)| reported(place)) {
            @match (place, cell) {
                (0, Cell::Name(name)) => { th.name scope="row" { (isolate_untrusted(&cut(name))) } }
                (0, Cell::Reported(reported)) => { th.name scope="row" { bdi { (reported) } } }
                (0, Cell::Number(number)) => { th.n scope="row" { (number) } }
                (0, Cell::Short(any) | Cell::Any(any)) => { th scope="row" { (any) } }
                (_, Cell::Name(name)) => { td.name { (isolate_untrusted(&cut(name))) } }
                (_, Cell::Reported(reported)) => { td.name { bdi { (reported) } } }
                (_, Cell::Number(number)) => { td.n { (number) } }
                (_, Cell::Short(short)) => { td.short { (short) } }
                (_, Cell::Any(any)) => { td.text { (any) } }
            }
        }
    }
}

/// A list of terms with their descriptions; empty ones are left out.
pub(crate) fn facts(rows: Vec<(&str, Markup)>) -> Markup {
    let rows: Vec<_> = rows.into_iter().filter(|(_, said)| !said.0.is_empty()).collect();
    html! {
        @if !rows.is_empty() {
            dl.facts { @for (term, said) in rows { div { dt { (term) } dd { (said) } } } }
        }
    }
}
