//! [`SchemaArgs`]: the words of `wavetank schema`, and what they mean.

use clap::Args;
use wavetank_plan::UserError;

use super::value_parsers::parse_choice;

/// `wavetank schema`.
#[derive(Args, Debug)]
#[command(after_help = "\
For example: wavetank schema > experiment.schema.json; wavetank schema lab > lab.schema.json
An editor finds it by a first line: # yaml-language-server: $schema=experiment.schema.json")]
pub(super) struct SchemaArgs {
    /// Of which files
    #[arg(value_name = "experiment|lab", default_value = "experiment")]
    of: String,
}

/// Files that have a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaKind {
    /// Experiments.
    Experiment,
    /// Topology files of labs.
    Lab,
}

/// Reads the word.
pub(super) fn schema(words: &SchemaArgs) -> Result<SchemaKind, UserError> {
    parse_choice(&words.of, &[("experiment", SchemaKind::Experiment), ("lab", SchemaKind::Lab)], &["fleet"])
}
