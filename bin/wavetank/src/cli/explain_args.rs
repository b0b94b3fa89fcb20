//! [`ExplainWords`]: arguments of `wavetank explain`.

use clap::Args;
use wavetank_plan::UserError;

use super::args::FileFormat;
use super::value_parsers::{parse_choice, with_flag};

/// `wavetank explain`.
#[derive(Args, Debug)]
#[command(after_help = "\
Without a code, lists all codes. For example: wavetank explain late
             wavetank explain invalid
             wavetank explain connect_refused --format json")]
pub(super) struct ExplainWords {
    /// Error code, exit code or report term
    #[arg(value_name = "CODE")]
    codes: Vec<String>,
    /// Output format
    #[arg(long, value_name = "text|json", default_value = "text")]
    format: String,
}

/// Converted arguments of `wavetank explain`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExplainArgs {
    /// Codes to explain; empty to list all.
    pub(crate) codes: Vec<String>,
    /// Output format.
    pub(crate) format: FileFormat,
}

/// Converts all arguments.
pub(super) fn explain(words: ExplainWords) -> Result<ExplainArgs, UserError> {
    let formats = [("text", FileFormat::Text), ("json", FileFormat::Json)];
    let format = with_flag("--format", parse_choice(&words.format, &formats, &[]))?;
    Ok(ExplainArgs { codes: words.codes, format })
}
