//! Experiment files as the commands use them: read with everything they name, with their errors
//! reported.

mod diagnostics_output;
mod experiment_file;
mod request_bytes;

pub(crate) use diagnostics_output::{errors_json, remarks_json};
pub(crate) use experiment_file::{DataLoading, ExperimentFile, with_absolute_paths};
pub(crate) use request_bytes::request_bytes;
