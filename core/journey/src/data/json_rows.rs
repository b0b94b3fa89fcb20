//! Reads JSON lines into a table.

use serde_json::{Map, Value};
use wavetank_units::{Code, UserError};

use super::remark::DataNote;
use super::source::RowsConfig;
use crate::value::JsonType;
use wavetank_plan::{Table, TableBuilder};

pub(super) fn read(
    source: &RowsConfig<'_>,
    text: &str,
    remarks: &mut Vec<DataNote>,
) -> Result<Table, UserError> {
    let name = source.name;
    if source.separator.is_some() {
        let message = format!("{name} contains JSON lines, which have no separator");
        return Err(UserError::usage(Code::DataSeparator, message, "leave `separator` out"));
    }
    let mut builder = source.columns.map(|columns| TableBuilder::new(name, columns)).transpose()?;
    let mut columns: Vec<String> = Vec::new();
    let mut reported = source.columns.is_some();
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    for (at, line) in lines {
        let object = object(name, at + 1, line)?;
        let builder = match &mut builder {
            Some(builder) => builder,
            none => {
                let names: Vec<&str> = object.keys().map(String::as_str).collect();
                none.insert(TableBuilder::new(name, &names)?)
            }
        };
        if columns.is_empty() {
            columns = builder.columns().map(str::to_owned).collect();
        }
        for column in &columns {
            let value = object.get(column).ok_or_else(|| {
                let message = format!("line {} of {name} has no `{column}`", at + 1);
                UserError::usage(
                    Code::DataRow,
                    message,
                    "give every line the keys of the first line, or those in `columns`",
                )
            })?;
            push(builder, value)?;
        }
        if !reported && object.len() > columns.len() {
            reported = true;
            let message = format!(
                "line {} of {name} has keys that are not in its first line: they are ignored",
                at + 1
            );
            remarks.push(DataNote::new(
                Code::KeysIgnored,
                message,
                "name the keys to keep: `columns: [user, password]`",
            ));
        }
    }
    match builder {
        Some(builder) => builder.finish(),
        None => Err(UserError::usage(Code::DataEmpty, format!("{name} is empty"), "add at least one line")),
    }
}

fn object(name: &str, line: usize, text: &str) -> Result<Map<String, Value>, UserError> {
    serde_json::from_str(text).map_err(|error| {
        let message = format!("line {line} of {name} is not a JSON object: {error}");
        UserError::usage(
            Code::DataRow,
            message,
            "write one object on each line: {\"user\": \"anna\", \"age\": 30}",
        )
    })
}

fn push(builder: &mut TableBuilder, value: &Value) -> Result<(), UserError> {
    match value {
        Value::String(text) => builder.push(JsonType::Text, text),
        Value::Null => builder.push(JsonType::Null, "null"),
        Value::Bool(flag) => builder.push(JsonType::Bool, if *flag { "true" } else { "false" }),
        Value::Number(number) => builder.push(JsonType::Number, &number.to_string()),
        nested => builder.push(JsonType::Json, &nested.to_string()),
    }
}
