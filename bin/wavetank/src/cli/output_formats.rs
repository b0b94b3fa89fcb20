//! Formats of output.

use std::path::PathBuf;

/// Output format of commands that read a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FileFormat {
    /// Text for people.
    #[default]
    Text,
    /// One JSON object.
    Json,
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
}

/// One `--out FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutFile {
    /// The file.
    pub(crate) path: PathBuf,
    /// Format, chosen by the suffix.
    pub(crate) format: OutputFormat,
}
