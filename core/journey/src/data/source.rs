//! [`RowsConfig`]: how a data file is to be read.

use wavetank_plan::UserError;

use super::remark::DataNote;
use super::table::Table;
use super::{csv_rows, json_rows, text};

/// The form of a data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowsFormat {
    /// Comma-separated values and their kin (RFC 4180).
    Csv,
    /// One JSON object a line.
    JsonLines,
}

/// A data file as the experiment describes it; its bytes are read by the caller.
#[derive(Clone, Copy, Debug)]
pub struct RowsConfig<'a> {
    /// The file, for messages.
    pub name: &'a str,
    /// Its form.
    pub format: RowsFormat,
    /// The columns' names where the file has no header line; for JSON lines the keys to keep.
    pub columns: Option<&'a [&'a str]>,
    /// What stands between two values; a comma if nothing is said.
    pub separator: Option<char>,
    /// The encoding's name; UTF-8 if nothing is said and no byte-order mark says otherwise.
    pub encoding: Option<&'a str>,
}

impl<'a> RowsConfig<'a> {
    /// The source of a file of that name: JSON lines for `.jsonl` and `.ndjson`, tab-separated for `.tsv`, else CSV.
    pub fn named(name: &'a str) -> Self {
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let is = |wanted: &str| ending.eq_ignore_ascii_case(wanted);
        let format = if is("jsonl") || is("ndjson") { RowsFormat::JsonLines } else { RowsFormat::Csv };
        Self { name, format, columns: None, separator: is("tsv").then_some('\t'), encoding: None }
    }

    /// Reads the file's bytes. What looks wrong but can be read is a remark.
    pub fn read(&self, bytes: &[u8]) -> Result<(Table, Vec<DataNote>), UserError> {
        let mut remarks = Vec::new();
        let text = text::decode(self.name, bytes, self.encoding, &mut remarks)?;
        let table = match self.format {
            RowsFormat::Csv => csv_rows::read(self, &text, &mut remarks)?,
            RowsFormat::JsonLines => json_rows::read(self, &text, &mut remarks)?,
        };
        Ok((table, remarks))
    }
}
