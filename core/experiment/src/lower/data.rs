//! Rows of data: tables from rows in the experiment, and the plan's entries for all sources.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};
use wavetank_journey::data::{Table, TableBuilder};
use wavetank_journey::value::JsonType;
use wavetank_plan::{DataPlan, RowChoice};
use wavetank_units::{Code, UserError};

use super::shared::GlobalScope;
use crate::model::{DataContent, DataSource, RowOrder, Value};

/// Returns the table of rows in the experiment file; `None` if the rows are in a separate file.
///
/// # Errors
/// Rows without columns, and templates that are not the same for all sessions.
pub fn rows_table(source: &DataSource) -> Result<Option<Table>, UserError> {
    let DataContent::Rows { columns, rows } = &source.content else { return Ok(None) };
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = TableBuilder::new(&source.name, &columns)?;
    for value in rows.iter().flatten() {
        let (kind, text) = cell(value).ok_or_else(|| {
            let message = format!("a row of {} contains a template", source.name);
            UserError::usage(Code::NotFixed, message, "rows are the same for all sessions: write the value")
        })?;
        table.push(kind, &text)?;
    }
    table.finish().map(Some)
}

fn cell(value: &Value) -> Option<(JsonType, String)> {
    Some(match value {
        Value::Null => (JsonType::Null, "null".to_owned()),
        Value::Bool(value) => (JsonType::Bool, value.to_string()),
        Value::Number(digits) => (JsonType::Number, digits.clone()),
        Value::Text(template) => (JsonType::Text, template.as_fixed()?.to_owned()),
        Value::List(_) | Value::Map(_) => (JsonType::Json, json(value)?.to_string()),
    })
}

fn json(value: &Value) -> Option<serde_json::Value> {
    Some(match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Number(digits) => serde_json::from_str(digits).ok()?,
        Value::Text(template) => template.as_fixed()?.into(),
        Value::List(items) => items.iter().map(json).collect::<Option<Vec<_>>>()?.into(),
        Value::Map(entries) => {
            let entries = entries.iter().map(|(name, value)| Some((name.clone(), json(value)?)));
            serde_json::Value::Object(entries.collect::<Option<_>>()?)
        }
    })
}

/// Returns the plan's entry for each source. A source without a table yet has no rows.
pub(super) fn plans(shared: &GlobalScope<'_>) -> Vec<DataPlan> {
    let all = shared.experiment.data.iter().enumerate().map(|(at, source)| {
        let table = shared.input.tables.get(at).and_then(Option::as_ref);
        DataPlan {
            name: source.name.clone(),
            file: match &source.content {
                DataContent::File(file) => Some(file.file.value.clone()),
                DataContent::Rows { .. } => None,
            },
            row: match source.row {
                RowOrder::InOrder => RowChoice::InOrder,
                RowOrder::Random => RowChoice::Random,
                RowOrder::Unique => RowChoice::Unique,
                RowOrder::PerUser => RowChoice::PerUser,
            },
            columns: shared.columns[at].clone(),
            rows: table.map_or(0, |table| u64::from(table.rows())),
            sha256: table.map(sha256).unwrap_or_default(),
        }
    });
    all.collect()
}

/// Returns a hash of all names and values, each with its length, so that different tables differ.
fn sha256(table: &Table) -> String {
    let mut hash = Sha256::new();
    let mut add = |text: &[u8]| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    let columns = table.columns().inspect(|name| add(name.as_bytes())).count();
    for row in 0..table.rows() {
        (0..columns).filter_map(|column| table.cell(row, column)).for_each(|found| add(found.text));
    }
    hash.finalize().iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("text takes everything");
        text
    })
}
