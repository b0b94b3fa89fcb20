//! [`Section`]: the facts, the table and the notes on one subject.

use super::page_text::PageText;
use super::table::Table;
use super::value::Value;

/// The facts, tables and notes on one subject.
pub(crate) struct Section {
    /// The label of the facts and entries on a terminal.
    pub(crate) label: &'static str,
    /// The target of links to it on a page.
    pub(crate) id: &'static str,
    /// The heading in Markdown.
    pub(crate) heading: &'static str,
    /// The heading on a page, and the introduction below it.
    pub(crate) title: PageText,
    pub(crate) lead: PageText,
    pub(crate) facts: Vec<Fact>,
    pub(crate) table: Table,
    /// Sentences below the table in Markdown.
    pub(crate) notes: Vec<String>,
    /// Lines of a terminal in place of the table, each a result and a sentence.
    pub(crate) terminal_entries: Vec<(&'static str, String)>,
    /// Lines of a terminal below the table, each a label and its parts: what the table has no room
    /// for there.
    pub(crate) terminal_notes: Vec<(&'static str, Vec<String>)>,
}

impl Section {
    /// A section that is only a table. Pages show it in another section.
    pub(crate) fn of_table(heading: &'static str, table: Table) -> Self {
        Self::new("", heading, Vec::new(), table)
    }

    /// A section that is only facts, with their label. Pages show them in another section.
    pub(crate) fn of_facts(label: &'static str, facts: Vec<Fact>) -> Self {
        Self::new(label, "", facts, Table::default())
    }

    fn new(label: &'static str, heading: &'static str, facts: Vec<Fact>, table: Table) -> Self {
        Self {
            label,
            id: "",
            heading,
            title: PageText::Absent,
            lead: PageText::Absent,
            facts,
            table,
            notes: Vec::new(),
            terminal_entries: Vec::new(),
            terminal_notes: Vec::new(),
        }
    }
}

/// A fact: a part of a line on a terminal and in Markdown, a term and its description on a page.
pub(crate) struct Fact {
    pub(crate) plain: String,
    pub(crate) term: PageText,
    pub(crate) value: Value,
}

impl Fact {
    /// A fact with a name outside of pages: `retried 12`. Left out without a value.
    pub(crate) fn named(name: &str, term: PageText, value: Value) -> Self {
        let plain = value.plain();
        let plain = if plain.is_empty() { plain } else { format!("{name} {plain}") };
        Self { plain, term, value }
    }

    /// A fact that only a terminal and Markdown have.
    pub(crate) const fn plain(plain: String) -> Self {
        Self { plain, term: PageText::Absent, value: Value::Nothing }
    }

    /// A fact that only a page has.
    pub(crate) const fn on_page(term: PageText, value: Value) -> Self {
        Self { plain: String::new(), term, value }
    }
}
