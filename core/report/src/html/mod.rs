//! A run as one HTML file that asks no network for anything: opens offline, prints, light and dark, from 380 px on.
//!
//! No script: whatever moves is the browser's own. All charts are inline SVG. Names, addresses and answers come from
//! outside and are escaped wherever they stand; the file's policy forbids whatever they might have tried.

mod connections;
mod course;
mod environment;
mod examples;
mod figures;
mod findings;
mod front;
mod generator;
mod hosts;
mod journeys;
mod language;
mod marks;
mod requests;
mod room;
mod scopes;
mod sheet;
mod table;
mod thresholds;
mod times;
mod words;

use maud::{DOCTYPE, Markup, PreEscaped, html};

pub use language::Language;
pub use sheet::HtmlSource;
pub(crate) use words::glossary;

use crate::chart::CHART_CSS;
use sheet::{Sheet, harmless};

/// The page's own style; charts bring theirs.
pub(crate) const STYLE: &str = include_str!("style.css");
/// What the page may load: nothing but its own style and pictures inside it.
pub(crate) const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// One section: where it is linked to, its heading, one sentence below it, and the rest.
pub(crate) struct Section {
    id: &'static str,
    title: &'static str,
    lead: &'static str,
    body: Markup,
}

impl Section {
    /// `None` where there is nothing to tell.
    fn new(id: &'static str, title: &'static str, lead: &'static str, body: Markup) -> Option<Self> {
        (!body.0.is_empty()).then_some(Self { id, title, lead, body })
    }
}

/// The whole file: a first page for whoever wants the result, then all there is to know.
pub fn html(source: HtmlSource, language: Language) -> String {
    let sheet = Sheet::new(source, language);
    let sections: Vec<Section> = [
        requests::section(&sheet),
        thresholds::section(&sheet),
        findings::section(&sheet),
        course::section(&sheet),
        times::section(&sheet),
        scopes::section(&sheet),
        journeys::section(&sheet),
        connections::section(&sheet),
        generator::section(&sheet),
        hosts::section(&sheet),
        examples::section(&sheet),
        environment::events(&sheet),
        environment::section(&sheet),
        environment::glossary(&sheet),
    ]
    .into_iter()
    .flatten()
    .collect();
    document(&sheet, &sections).into_string()
}

fn document(sheet: &Sheet, sections: &[Section]) -> Markup {
    let (record, words) = (sheet.record(), sheet.words);
    let word = marks::verdict_word(sheet);
    html! {
        (DOCTYPE)
        html lang=(words.tag) {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                meta name="robots" content="noindex";
                link rel="icon" href="data:,";
                title { (word) " · " (harmless(&record.name)) " · " (words.page.report) }
                style { (PreEscaped(CHART_CSS)) (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#summary" { (words.page.skip) }
                (front::header(sheet))
                main {
                    (front::summary(sheet))
                    nav.contents aria-labelledby="contents" {
                        h2 #contents { (words.page.contents) }
                        ol { @for section in sections {
                            li { a href={ "#" (section.id) } { (section.title) } }
                        } }
                    }
                    @for section in sections { (render(section)) }
                }
                footer {
                    p { ((words.page.made_by)(&harmless(&record.version))) " " (words.page.offline) }
                }
            }
        }
    }
}

fn render(section: &Section) -> Markup {
    let Section { id, title, lead, body } = section;
    html! {
        section id=(id) aria-labelledby={ (id) "-title" } {
            h2 id={ (id) "-title" } { (title) }
            p.lead { (lead) }
            (body)
        }
    }
}
