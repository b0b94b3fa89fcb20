//! `wavetank schema`.

use wavetank_plan::{ExitCode, UserError};

use crate::cli::SchemaOf;
use crate::run::output;

/// Print the JSON Schema of the files asked for. Exit 0.
pub(crate) fn schema(of: SchemaOf) -> Result<u8, UserError> {
    output::print(&match of {
        SchemaOf::Experiment => wavetank_experiment::schema(),
        SchemaOf::Lab => wavetank_topology::schema(),
    })?;
    Ok(ExitCode::Pass as u8)
}
