//! [`SchemaArgs`]: arguments of `wavetank schema`.

use clap::Args;
use wavetank_plan::UserError;

use super::value_parsers::parse_choice;

/// `wavetank schema`.
#[derive(Args, Debug)]
#[command(after_help = "\
For example: wavetank schema > experiment.schema.json; wavetank schema lab > lab.schema.json
Editors find the schema through the first line of a file:
  # yaml-language-server: $schema=experiment.schema.json")]
pub(super) struct SchemaArgs {
    /// File format to print the schema of
    #[arg(value_name = "experiment|lab", default_value = "experiment")]
    of: String,
}

/// File formats that have a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaKind {
    /// Experiments.
    Experiment,
    /// Topology files of labs.
    Lab,
}

/// Parses the name of a file format.
pub(super) fn schema(words: &SchemaArgs) -> Result<SchemaKind, UserError> {
    parse_choice(&words.of, &[("experiment", SchemaKind::Experiment), ("lab", SchemaKind::Lab)], &["fleet"])
}
