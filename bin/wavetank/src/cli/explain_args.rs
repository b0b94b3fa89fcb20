//! [`ExplainArgs`]: arguments of `wavetank explain`.

use clap::Args;

use super::output_formats::FileFormat;

/// `wavetank explain`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
Without a code, lists all codes. For example: wavetank explain late
             wavetank explain invalid
             wavetank explain connect_refused --format json")]
pub(crate) struct ExplainArgs {
    /// Error code, exit code or report term
    #[arg(value_name = "CODE")]
    pub(crate) codes: Vec<String>,
    /// Output format
    #[arg(long, default_value = "text")]
    pub(crate) format: FileFormat,
}
