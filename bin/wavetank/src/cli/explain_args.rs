//! [`ExplainWords`]: the words of `wavetank explain`, and what they mean.

use clap::Args;
use wavetank_plan::UserError;

use super::args::FileFormat;
use super::value_parsers::{parse_choice, with_flag};

/// `wavetank explain`.
#[derive(Args, Debug)]
#[command(after_help = "\
Without a code it lists all of them. For example: wavetank explain late
             wavetank explain invalid
             wavetank explain connect_refused --format json")]
pub(super) struct ExplainWords {
    /// A code, as it stands beside errors, findings and verdicts; an exit code; a word of the report
    #[arg(value_name = "CODE")]
    codes: Vec<String>,
    /// Shape of the answer
    #[arg(long, value_name = "text|json", default_value = "text")]
    format: String,
}

/// `wavetank explain`, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExplainArgs {
    /// What is to be explained; empty for a list of everything.
    pub(crate) codes: Vec<String>,
    /// Shape of the answer.
    pub(crate) format: FileFormat,
}

/// Reads every word.
pub(super) fn explain(words: ExplainWords) -> Result<ExplainArgs, UserError> {
    let formats = [("text", FileFormat::Text), ("json", FileFormat::Json)];
    let format = with_flag("--format", parse_choice(&words.format, &formats, &[]))?;
    Ok(ExplainArgs { codes: words.codes, format })
}
