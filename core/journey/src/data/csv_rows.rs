//! Reads comma-separated values into a table.

use csv::{ReaderBuilder, StringRecord};
use wavetank_units::{Code, UserError};

use super::csv_quotes::check_quotes;
use super::remark::DataNote;
use super::source::RowsConfig;
use crate::value::JsonType;
use wavetank_plan::{Table, TableBuilder};

/// Other separators in files called CSV.
const OTHER_SEPARATORS: [char; 4] = [';', '\t', '|', ','];

pub(super) fn read(
    source: &RowsConfig<'_>,
    text: &str,
    remarks: &mut Vec<DataNote>,
) -> Result<Table, UserError> {
    let name = source.name;
    let own = own_separator(text).filter(|_| source.separator.is_none());
    let separator = separator(source.separator.or(own), name)?;
    check_quotes(name, text, separator)?;
    let mut reader = ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut record = StringRecord::new();
    let mut next = |record: &mut StringRecord| {
        reader.read_record(record).map_err(|error| {
            UserError::usage(
                Code::DataRow,
                format!("cannot read {name} as CSV: {error}"),
                "check the file's format",
            )
        })
    };
    let mut more = next(&mut record)?;
    if own.is_some() {
        let message = format!("{name} names its separator in the first line");
        remarks.push(DataNote::new(Code::Separator, message, ""));
        more = next(&mut record)?;
    }
    let mut builder = if let Some(columns) = source.columns {
        let builder = TableBuilder::new(name, columns)?;
        if more && record.iter().eq(columns.iter().copied()) {
            let message = format!(
                "the first line of {name} repeats the names in `columns`: it is read as a header line"
            );
            remarks.push(DataNote::new(Code::HeaderRepeated, message, "leave `columns` out"));
            more = next(&mut record)?;
        }
        builder
    } else {
        let header: Vec<&str> = record.iter().map(str::trim).collect();
        let builder = header_builder(name, &header, more)?;
        remark_on_header(name, &header, separator, remarks);
        more = next(&mut record)?;
        builder
    };
    let width = builder.columns().count();
    while more {
        if record.len() != width {
            let columns: Vec<&str> = builder.columns().collect();
            return Err(wrong_width(name, &record, &columns, separator));
        }
        for value in &record {
            builder.push(JsonType::Text, value)?;
        }
        more = next(&mut record)?;
    }
    builder.finish()
}

/// Returns the separator that the first line names, as spreadsheets write it: `sep=;`.
fn own_separator(text: &str) -> Option<char> {
    let first = text.lines().next()?;
    let named = first.strip_prefix("sep=").or_else(|| first.strip_prefix("SEP="))?;
    let mut letters = named.chars();
    letters.next().filter(|_| letters.next().is_none())
}

fn separator(given: Option<char>, name: &str) -> Result<u8, UserError> {
    let given = given.unwrap_or(',');
    let allowed = given.is_ascii() && !matches!(given, '"' | '\n' | '\r' | '\0');
    allowed.then_some(given as u8).ok_or_else(|| {
        let message = format!("`{}` cannot separate the values of {}", given.escape_default(), name);
        UserError::usage(Code::DataSeparator, message, "use `,` `;` `|` or a tab (`\"\\t\"`)")
    })
}

fn header_builder(name: &str, header: &[&str], any: bool) -> Result<TableBuilder, UserError> {
    if !any {
        let message = format!("{name} is empty");
        return Err(UserError::usage(Code::DataEmpty, message, "add a header line and at least one row"));
    }
    TableBuilder::new(name, header)
}

/// Adds a note if the first line does not look like a header, or if another separator seems to be
/// used.
fn remark_on_header(name: &str, header: &[&str], separator: u8, remarks: &mut Vec<DataNote>) {
    let line = header.join(&char::from(separator).to_string());
    if let ([only], Some(hint)) = (header, other_separator(header)) {
        remarks.push(DataNote::new(Code::Separator, format!("{name} has one column `{only}`"), hint));
    }
    let like_data = |value: &&&str| {
        value.parse::<f64>().is_ok() || value.contains('@') || value.contains("://") || value.len() > 60
    };
    if let Some(value) = header.iter().find(like_data) {
        let message = format!(
            "the first line of {name}, `{line}`, is read as column names, but `{value}` looks like data"
        );
        remarks.push(DataNote::new(
            Code::HeaderMissing,
            message,
            "if there is no header line, name the columns: `columns: [user, password]`",
        ));
    }
}

/// Returns a hint if there is one column with a name that another separator would divide.
fn other_separator(columns: &[&str]) -> Option<String> {
    let [only] = columns else { return None };
    let other = OTHER_SEPARATORS.iter().find(|other| only.contains(**other))?;
    Some(format!("set separator: \"{}\"", other.escape_default()))
}

fn wrong_width(name: &str, record: &StringRecord, columns: &[&str], separator: u8) -> UserError {
    let line = record.position().map_or(0, csv::Position::line);
    let values = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let (found, width) = (values(record.len(), "value"), values(columns.len(), "column"));
    let separator = char::from(separator).escape_default();
    UserError::usage(
        Code::DataRow,
        format!("line {line} of {name} has {found} for {width}"),
        other_separator(columns).unwrap_or_else(|| {
            format!("put a value that contains `{separator}` or a line end in quotes: \"…\"")
        }),
    )
}
