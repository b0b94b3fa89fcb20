//! [`RowsConfig`]: the format of a data file.

/// The form of a data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowsFormat {
    /// Comma-separated values and similar formats (RFC 4180).
    Csv,
    /// One JSON object per line.
    JsonLines,
}

/// A data file as described in the experiment. The caller reads its bytes.
#[derive(Clone, Copy, Debug)]
pub struct RowsConfig<'a> {
    /// The name of the file, for messages.
    pub name: &'a str,
    /// Its form.
    pub format: RowsFormat,
    /// The column names if the file has no header line. For JSON lines, the keys to keep.
    pub columns: Option<&'a [&'a str]>,
    /// The separator between two values; default: a comma.
    pub separator: Option<char>,
    /// The name of the encoding; default: UTF-8, unless a byte-order mark indicates another one.
    pub encoding: Option<&'a str>,
}

impl<'a> RowsConfig<'a> {
    /// Returns the configuration for a file with this name: JSON lines for `.jsonl` and `.ndjson`,
    /// tab-separated for `.tsv`, else CSV.
    pub fn named(name: &'a str) -> Self {
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let is = |wanted: &str| ending.eq_ignore_ascii_case(wanted);
        let format = if is("jsonl") || is("ndjson") { RowsFormat::JsonLines } else { RowsFormat::Csv };
        Self { name, format, columns: None, separator: is("tsv").then_some('\t'), encoding: None }
    }
}
