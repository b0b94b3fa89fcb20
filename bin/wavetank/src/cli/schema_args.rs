//! [`SchemaArgs`]: arguments of `wavetank schema`.

use clap::Args;
use clap::builder::ValueParserFactory;

use super::choice::Choice;

/// `wavetank schema`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
For example: wavetank schema > experiment.schema.json; wavetank schema lab > lab.schema.json
Editors find the schema through the first line of a file:
  # yaml-language-server: $schema=experiment.schema.json")]
pub(crate) struct SchemaArgs {
    /// File format to print the schema of
    #[arg(default_value = "experiment")]
    pub(crate) of: SchemaKind,
}

/// File formats that have a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaKind {
    /// Experiments.
    Experiment,
    /// Topology files of labs.
    Lab,
    /// Fleet files.
    Fleet,
}

impl ValueParserFactory for SchemaKind {
    type Parser = Choice<Self>;

    fn value_parser() -> Choice<Self> {
        Choice::new(&[("experiment", Self::Experiment), ("lab", Self::Lab), ("fleet", Self::Fleet)])
    }
}
