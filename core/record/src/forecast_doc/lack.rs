//! [`LackDoc`]: something that this host lacks.

use serde::Serialize;
use wavetank_units::UserError;

/// Something that this host lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LackDoc {
    /// Stable short name, as of the error that `run` ends with.
    pub code: String,
    /// What is missing.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl From<&UserError> for LackDoc {
    fn from(error: &UserError) -> Self {
        Self {
            code: error.code.as_str().to_owned(),
            message: error.message.clone(),
            hint: error.hint.clone(),
        }
    }
}
