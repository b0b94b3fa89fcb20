//! A run as one HTML file that asks no network for anything: opens offline, prints, light and dark, from 380 px on.
//!
//! No script: whatever moves is the browser's own. All charts are inline SVG. Names, addresses and answers come from
//! outside and are escaped wherever they stand; the file's policy forbids whatever they might have tried.

mod connections;
mod course;
mod document;
mod environment;
mod examples;
mod figures;
mod findings;
mod front;
mod generator;
mod glossary;
mod hosts;
mod impact_words;
mod impacts;
mod journeys;
mod lab_hosts;
mod lab_words;
mod language;
mod marks;
mod requests;
mod room;
mod scopes;
mod sheet;
mod table;
mod tested;
mod thresholds;
mod times;
mod words;

use maud::Markup;

pub use language::Language;
pub use sheet::HtmlSource;
pub(crate) use words::glossary;

pub(crate) use document::{Document, Section};
pub(crate) use figures::{Numbers, RowInstant, chart_words, figure_in};
pub(crate) use marks::verdict_sign;
pub(crate) use sheet::{command_line, harmless, is_sentence, kept_together, outside, stored_in, with_code};
pub(crate) use table::{Cell, Table};
pub(crate) use words::Words;

use sheet::Sheet;

use crate::units::cut;

/// The whole file: a first page for whoever wants the result, then all there is to know.
pub fn html(source: HtmlSource, language: Language) -> String {
    let sheet = Sheet::new(source, language);
    let sections: Vec<Section> = [
        requests::section(&sheet),
        thresholds::section(&sheet),
        findings::section(&sheet),
        course::section(&sheet),
        impacts::section(&sheet),
        times::section(&sheet),
        scopes::section(&sheet),
        journeys::section(&sheet),
        connections::section(&sheet),
        generator::section(&sheet),
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

fn document(sheet: &Sheet, sections: Vec<Section>) -> Markup {
    let (record, words) = (sheet.record(), sheet.words);
    let document = Document {
        title: format!(
            "{} · {} · {}",
            marks::verdict_word(sheet),
            harmless(&cut(&record.name)),
            words.page.report
        ),
        header: front::header(sheet),
        summary: front::summary(sheet),
        sections,
        made_by: (words.page.made_by)(&harmless(&record.version)),
    };
    document.render(words)
}
