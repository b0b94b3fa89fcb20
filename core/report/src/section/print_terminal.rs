//! A section in lines of a terminal.

use std::fmt::Write as _;

use super::model::Section;
use super::table::{Head, Row, Table, Terminal};
use crate::text_layout::{COLUMNS_MAX, TextLayout, cut, pad, pad_left, width};

/// Columns for the result of an entry.
const WORD_COLUMNS: usize = 9;

/// Adds the facts with their label, the entries, the table, and the notes.
pub(crate) fn add_section(page: &mut TextLayout, section: &Section) {
    let facts: Vec<String> = section.facts.iter().map(|fact| fact.plain.clone()).collect();
    page.parts(section.label, &facts);
    for (number, (word, sentence)) in section.terminal_entries.iter().enumerate() {
        page.entry(if number == 0 { section.label } else { "" }, word, WORD_COLUMNS, sentence);
    }
    add_table(page, &section.table);
    for (label, parts) in &section.terminal_notes {
        page.parts(label, parts);
    }
}

/// Adds a line of headings and a line for each row; nothing without rows, or without columns for
/// a terminal.
fn add_table(page: &mut TextLayout, table: &Table) {
    let rows: Vec<&Row> = table.rows.iter().filter(|row| !row.is_wide_only).collect();
    let is_reported = |place: usize| rows.iter().any(|row| !row.values[place].plain().is_empty());
    let columns = table.heads.iter().enumerate().filter_map(|(place, head)| match head.terminal {
        Terminal::Column(heading, columns) if is_reported(place) => Some((place, heading, columns)),
        _ => None,
    });
    let columns: Vec<_> = columns.collect();
    if columns.is_empty() || rows.is_empty() {
        return;
    }
    let headings: String = columns.iter().map(|(_, heading, columns)| pad_left(heading, *columns)).collect();
    let names = table.label_columns.unwrap_or(COLUMNS_MAX - width(&headings));
    page.line(&(pad(table.label, names) + &headings));
    let (rows_max, field) = table.terminal_rows;
    for row in rows.iter().take(rows_max) {
        let cell = |&(place, _, columns): &(usize, _, usize)| pad_left(&row.values[place].plain(), columns);
        let name = pad(&cut(&name(table, row), names), names);
        page.line(&(name + &columns.iter().map(cell).collect::<String>()));
        row.below.iter().for_each(|sentence| page.sentence("", sentence));
    }
    let more = rows.len().saturating_sub(rows_max);
    if more > 0 {
        page.sentence("", &format!("{more} more {} in `{field}` of --format json", table.label));
    }
}

/// `  lb1 (balancer)`, or the name as a label.
fn name(table: &Table, row: &Row) -> String {
    let mut name = row.values[0].plain();
    if table.label_columns.is_some() {
        return name.to_lowercase();
    }
    name.insert_str(0, "  ");
    let is_added = |head: &Head| matches!(head.terminal, Terminal::AfterName);
    for (_, value) in table.heads.iter().zip(&row.values).filter(|(head, _)| is_added(head)) {
        let text = value.plain();
        let _ = if text.is_empty() { Ok(()) } else { write!(name, " ({text})") };
    }
    name
}
