//! `wavetank schema`.

use wavetank_units::{ExitCode, UserError};

use crate::cli::SchemaKind;
use crate::output;

/// Prints the JSON Schema of a file format. Exit 0.
pub(crate) fn schema(of: SchemaKind) -> Result<u8, UserError> {
    output::print(&match of {
        SchemaKind::Experiment => wavetank_experiment::schema(),
        SchemaKind::Lab => wavetank_topology::schema(),
        SchemaKind::Fleet => wavetank_inventory::fleet_schema(),
    })?;
    Ok(ExitCode::Pass as u8)
}
