//! A section in lines of a terminal.

use std::fmt::Write as _;

use super::model::Section;
use super::table::{Table, Terminal};
use crate::text_layout::{COLUMNS_MAX, TextLayout, cut, pad, pad_left, width};

/// Adds the facts with their label, the table, and the notes.
pub(crate) fn add_section(page: &mut TextLayout, section: &Section) {
    let facts: Vec<String> = section.facts.iter().map(|fact| fact.plain.clone()).collect();
    page.parts(section.label, &facts);
    add_table(page, &section.table);
    for (label, parts) in &section.terminal_notes {
        page.parts(label, parts);
    }
}

/// Adds a line of headings and a line for each row; nothing without rows, or without columns for
/// a terminal.
fn add_table(page: &mut TextLayout, table: &Table) {
    let places = || table.heads.iter().enumerate();
    let is_reported = |place: usize| table.rows.iter().any(|row| !row.values[place].plain().is_empty());
    let columns = places().filter_map(|(place, head)| match head.terminal {
        Terminal::Column(heading, columns) if is_reported(place) => Some((place, heading, columns)),
        _ => None,
    });
    let columns: Vec<_> = columns.collect();
    if columns.is_empty() || table.rows.is_empty() {
        return;
    }
    let headings: String = columns.iter().map(|(_, heading, columns)| pad_left(heading, *columns)).collect();
    let names = COLUMNS_MAX - width(&headings);
    page.line(&(pad(table.label, names) + &headings));
    let (rows_max, field) = table.terminal_rows;
    for row in table.rows.iter().take(rows_max) {
        let added = places().filter(|(_, head)| matches!(head.terminal, Terminal::AfterName));
        let mut name = format!("  {}", row.values[0].plain());
        for text in added.map(|(place, _)| row.values[place].plain()).filter(|text| !text.is_empty()) {
            let _ = write!(name, " ({text})");
        }
        let name = cut(&name, names);
        let cell = |&(place, _, columns): &(usize, _, usize)| pad_left(&row.values[place].plain(), columns);
        page.line(&(pad(&name, names) + &columns.iter().map(cell).collect::<String>()));
        row.below.iter().for_each(|sentence| page.sentence("", sentence));
    }
    let more = table.rows.len().saturating_sub(rows_max);
    if more > 0 {
        page.sentence("", &format!("{more} more {} in `{field}` of --format json", table.label));
    }
}
