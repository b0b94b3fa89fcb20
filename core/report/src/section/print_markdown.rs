//! A section in Markdown.

use super::model::Section;
use super::table::Table;
use super::value::{Sign, Value};
use crate::export::{aligned_table, code, left_out, name, sentence};

/// Most rows of one table; the number of rows left out is shown.
const ROWS_MAX: usize = 50;

/// The facts in a line, the table, and the notes; the heading of the section is not part of it.
pub(crate) fn markdown(section: &Section) -> String {
    let facts = section.facts.iter().map(|fact| sentence(&fact.plain)).filter(|fact| !fact.is_empty());
    let facts = facts.collect::<Vec<_>>().join(" · ");
    let gap = if facts.is_empty() { "" } else { "\n\n" };
    let notes: String =
        section.notes.iter().fold(String::new(), |notes, note| notes + "\n" + &sentence(note) + "\n");
    format!("{facts}{gap}{}{notes}", table(&section.table))
}

/// The table without its empty columns.
fn table(table: &Table) -> String {
    let rows: Vec<Vec<String>> =
        table.rows.iter().take(ROWS_MAX).map(|row| row.values.iter().map(cell).collect()).collect();
    let is_reported = |place: &usize| {
        !table.heads[*place].plain.is_empty() && rows.iter().any(|row| !row[*place].is_empty())
    };
    let reported: Vec<usize> = (0..table.heads.len()).filter(is_reported).collect();
    let heads: Vec<_> = reported.iter().map(|place| &table.heads[*place]).collect();
    let heads: Vec<_> = heads.iter().map(|head| (head.plain, head.is_number)).collect();
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| reported.iter().map(|place| row[*place].clone()).collect()).collect();
    left_out(aligned_table(&heads, &rows), table.rows.len() - rows.len())
}

fn cell(value: &Value) -> String {
    match value {
        Value::Condition(text, false) => code(text),
        Value::Condition(text, true) => code(text) + " (implicit)",
        Value::Name(text) | Value::WholeName(text) => name(text),
        Value::Alert(plain, _) | Value::Marked(Sign::Bad, plain, _) => format!("**{plain}**"),
        Value::Stored(_) | Value::Percentile(_) => sentence(&value.plain()),
        _ => value.plain(),
    }
}
