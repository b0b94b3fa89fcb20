//! A run as one HTML file that needs no network: it opens offline, prints, and has light and dark
//! colours, from 380 px on.
//!
//! There are no scripts; interaction uses the browser's own elements. All charts are inline SVG.
//! Names, addresses and responses come from outside and are escaped everywhere. The file's content
//! security policy blocks everything else.

mod badges;
mod connections;
mod document;
mod environment;
mod examples;
mod figures;
mod findings;
mod generator;
mod glossary;
mod headroom;
mod hosts;
mod impacts;
mod journeys;
mod lab_hosts;
mod language;
mod page_context;
mod requests;
mod scopes;
mod strings;
mod summary;
mod table;
mod test_setup;
mod thresholds;
mod time_charts;
mod times;

use maud::Markup;

pub use language::Language;
pub use page_context::HtmlSource;
pub(crate) use strings::glossary;

pub(crate) use badges::{mark, verdict_sign};
pub(crate) use document::{Document, Section};
pub(crate) use figures::{Numbers, RowInstant, chart_labels, figure_in};
pub(crate) use page_context::{
    PageContext, command_line, harmless, is_sentence, isolate_untrusted, translated, with_code,
    with_nonbreaking_units,
};
pub(crate) use strings::{Of1, Of2, Strings};
pub(crate) use table::{Cell, Table, facts};

use crate::format::cut;
use crate::section::{fleet, page_section};

/// Returns the whole file: a first page with the result, then all details.
pub fn html(source: HtmlSource, language: Language) -> String {
    let sheet = PageContext::new(source, language);
    let sections: Vec<Section> = [
        requests::section(&sheet),
        thresholds::section(&sheet),
        findings::section(&sheet),
        times::section(&sheet),
        time_charts::section(&sheet),
        impacts::section(&sheet),
        scopes::section(&sheet),
        journeys::section(&sheet),
        connections::section(&sheet),
        generator::section(&sheet),
        sheet
            .record()
            .fleet
            .as_ref()
            .and_then(|agents| page_section(&fleet(agents), &sheet, &Markup::default())),
        hosts::section(&sheet),
        lab_hosts::section(&sheet),
        examples::section(&sheet),
        environment::events(&sheet),
        environment::section(&sheet),
    ]
    .into_iter()
    .flatten()
    .collect();
    document(&sheet, sections).into_string()
}

fn document(sheet: &PageContext, sections: Vec<Section>) -> Markup {
    let (record, words) = (sheet.record(), sheet.words);
    let document = Document {
        title: format!(
            "{} · {} · {}",
            badges::verdict_text(sheet),
            harmless(&cut(&record.name)),
            words.page.report
        ),
        header: summary::header(sheet),
        summary: summary::summary(sheet),
        sections,
        made_by: (words.page.made_by)(&harmless(&record.version)),
    };
    document.render(words)
}
