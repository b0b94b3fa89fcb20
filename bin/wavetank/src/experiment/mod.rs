//! Experiment files as the commands use them: read with all they name, and what is wrong with them told.

mod loaded;
#[cfg(target_os = "linux")]
mod names;
mod request_bytes;
mod told;

pub(crate) use loaded::{Loaded, Rows, with_whole_names};
#[cfg(target_os = "linux")]
pub(crate) use names::Names;
pub(crate) use request_bytes::request_bytes;
pub(crate) use told::{errors_json, remarks_json};
