//! Experiment files as the commands use them: read with all they name, and what is wrong with them told.

mod loaded;
mod told;

pub(crate) use loaded::Loaded;
pub(crate) use told::remarks_json;
