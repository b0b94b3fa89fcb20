//! Formats of output.

use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser as _, ValueParser, ValueParserFactory};
use wavetank_units::{Code, UserError};

use super::choice::Choice;

/// Output format of commands that read a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FileFormat {
    /// Text for people.
    #[default]
    Text,
    /// One JSON object.
    Json,
}

impl ValueParserFactory for FileFormat {
    type Parser = Choice<Self>;

    fn value_parser() -> Choice<Self> {
        Choice::new(&[("text", Self::Text), ("json", Self::Json)])
    }
}

/// Output format of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// Text for people.
    #[default]
    Text,
    /// One line: verdict, rate, percentiles, failures, limit.
    Oneline,
    /// One JSON object, `wavetank.run/1`.
    Json,
    /// `JUnit` XML: thresholds and checks as test cases.
    Junit,
    /// CSV, one row per interval.
    Csv,
    /// Markdown summary for a pull request or a wiki.
    Markdown,
    /// `HdrHistogram`'s percentile distribution.
    Hgrm,
    /// `HdrHistogram`'s interval log.
    Hlog,
    /// One self-contained HTML page.
    Html,
}

impl ValueParserFactory for OutputFormat {
    type Parser = Choice<Self>;

    fn value_parser() -> Choice<Self> {
        Choice::new(&[
            ("text", Self::Text),
            ("json", Self::Json),
            ("junit", Self::Junit),
            ("csv", Self::Csv),
            ("markdown", Self::Markdown),
            ("hgrm", Self::Hgrm),
            ("hlog", Self::Hlog),
            ("html", Self::Html),
            ("oneline", Self::Oneline),
        ])
        .or(|text| (text == "md").then_some(Ok(Self::Markdown)))
    }
}

impl OutputFormat {
    /// Whether the format is made from the intervals of the archive. The others need only
    /// `run.json`.
    pub(crate) const fn needs_intervals(self) -> bool {
        matches!(self, Self::Csv | Self::Hgrm | Self::Hlog)
    }

    /// Whether the format describes a single load, so that a search cannot be written in it.
    pub(crate) const fn is_single_run(self) -> bool {
        matches!(self, Self::Oneline | Self::Hgrm | Self::Hlog)
    }

    /// Whether the format can hold an error in place of a result, so that no reader mistakes the
    /// error for a result.
    pub(crate) const fn can_hold_errors(self) -> bool {
        matches!(self, Self::Text | Self::Json | Self::Junit)
    }

    fn of_suffix(path: &Path) -> Option<Self> {
        match path.extension()?.to_string_lossy().to_ascii_lowercase().as_str() {
            "txt" => Some(Self::Text),
            "json" => Some(Self::Json),
            "xml" | "junit" => Some(Self::Junit),
            "csv" => Some(Self::Csv),
            "md" | "markdown" => Some(Self::Markdown),
            "hgrm" => Some(Self::Hgrm),
            "hlog" => Some(Self::Hlog),
            "html" | "htm" => Some(Self::Html),
            _ => None,
        }
    }
}

/// One `--out FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutFile {
    /// The file.
    pub(crate) path: PathBuf,
    /// Format, chosen by the suffix.
    pub(crate) format: OutputFormat,
}

impl ValueParserFactory for OutFile {
    type Parser = ValueParser;

    fn value_parser() -> ValueParser {
        ValueParser::new(PathBufValueParser::new().try_map(Self::new))
    }
}

impl OutFile {
    /// Chooses the format by the suffix.
    pub(super) fn new(path: PathBuf) -> Result<Self, UserError> {
        if let Some(format) = OutputFormat::of_suffix(&path) {
            return Ok(Self { path, format });
        }
        let message = format!("{}: the suffix is not a known format", path.display());
        if path.to_str().and_then(|text| text.split_once('=')).is_some_and(|(kind, _)| is_metrics(kind)) {
            let hint = "--metrics sends metrics during the run, for example --metrics influx=http://HOST:8086/DB; --out FILE.json writes the result";
            return Err(UserError::usage(Code::OutSuffix, message, hint));
        }
        let hint = ".txt is text, .json is json, .xml and .junit are junit, .md is markdown; .html, .csv, .hgrm and .hlog \
                    are the formats of these names: --out result.json";
        Err(UserError::usage(Code::OutSuffix, message, hint))
    }
}

/// Whether `kind` is an output of k6 or of this program that takes metrics during a run.
fn is_metrics(kind: &str) -> bool {
    let known = ["prometheus", "influx", "statsd", "otlp", "opentelemetry", "datadog", "csv", "json"];
    known.iter().any(|known| kind.to_ascii_lowercase().contains(known))
}
