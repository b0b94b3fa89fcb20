//! [`SchemaWords`]: the words of `wavetank schema`, and what they mean.

use clap::Args;
use wavetank_plan::UserError;

use super::convert::one_of;

/// `wavetank schema`.
#[derive(Args, Debug)]
#[command(after_help = "\
For example: wavetank schema > experiment.schema.json; wavetank schema lab > lab.schema.json
An editor finds it by a first line: # yaml-language-server: $schema=experiment.schema.json")]
pub(super) struct SchemaWords {
    /// Of which files
    #[arg(value_name = "experiment|lab", default_value = "experiment")]
    of: String,
}

/// Files that have a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaOf {
    /// Experiments.
    Experiment,
    /// Topology files of labs.
    Lab,
}

/// Reads the word.
pub(super) fn schema(words: &SchemaWords) -> Result<SchemaOf, UserError> {
    one_of(&words.of, &[("experiment", SchemaOf::Experiment), ("lab", SchemaOf::Lab)], &["fleet"])
}
