//! [`Document`]: the HTML file around the content of a page.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::glossary::glossary;
use super::strings::Strings;
use crate::chart::CHART_CSS;

/// The page's own style; charts bring theirs.
const STYLE: &str = include_str!("style.css");
/// Content security policy: the page may load only its own style and its embedded pictures.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// One section: its link target, its heading, one sentence below it, and the rest.
pub(crate) struct Section {
    id: &'static str,
    title: &'static str,
    lead: &'static str,
    body: Markup,
}

impl Section {
    /// `None` if the section is empty.
    pub(crate) fn new(
        id: &'static str,
        title: &'static str,
        lead: &'static str,
        body: Markup,
    ) -> Option<Self> {
        (!body.0.is_empty()).then_some(Self { id, title, lead, body })
    }

    pub(crate) fn render(&self) -> Markup {
        let Self { id, title, lead, body } = self;
        html! {
            section id=(id) aria-labelledby={ (id) "-title" } {
                h2 id={ (id) "-title" } { (title) }
                @if !lead.is_empty() { p.lead { (lead) } }
                (body)
            }
        }
    }
}

/// A page: its banner, its first sheet in the section `summary`, and the details below. The
/// glossary of its terms is added last.
pub(crate) struct Document {
    /// Title of the window, without control characters.
    pub(crate) title: String,
    pub(crate) header: Markup,
    pub(crate) summary: Markup,
    pub(crate) sections: Vec<Section>,
    /// The program and the stored data that the page was made from.
    pub(crate) made_by: String,
}

impl Document {
    fn has_tables_behind(&self) -> bool {
        self.sections.iter().any(|section| section.body.0.contains("<details>"))
    }

    /// The whole file.
    pub(crate) fn render(mut self, words: &Strings) -> Markup {
        let page = &words.page;
        let parts = std::iter::once(&self.summary).chain(self.sections.iter().map(|section| &section.body));
        let last = glossary(words, parts);
        self.sections.extend(last);
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
                    title { (self.title) }
                    style { (PreEscaped(CHART_CSS)) (PreEscaped(STYLE)) }
                }
                body {
                    a.skip href="#summary" { (page.skip) }
                    (self.header)
                    main {
                        (self.summary)
                        nav.contents aria-labelledby="contents" {
                            h2 #contents { (page.contents) }
                            ol { @for section in &self.sections {
                                li { a href={ "#" (section.id) } { (section.title) } }
                            } }
                        }
                        @for section in &self.sections { (section.render()) }
                    }
                    footer {
                        p { (self.made_by) (page.sentence_gap) (page.offline) }
                        // Closed details are not printed: a table with each second of each chart
                        // would fill many sheets.
                        @if self.has_tables_behind() { p.paper { (page.on_paper) } }
                    }
                }
            }
        }
    }
}
