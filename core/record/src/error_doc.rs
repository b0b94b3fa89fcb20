//! [`ErrorDoc`]: what `--format json` prints when nothing was run.

use serde::Serialize;
use wavetank_units::UserError;

use crate::LackDoc;

/// Version of the error object.
pub const ERROR_SCHEMA: &str = "wavetank.error/1";

/// A usage error or a refusal as JSON: one object on stdout, like every other outcome
/// (`docs/measuring.md` §6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorDoc {
    /// Always [`ERROR_SCHEMA`].
    pub schema: String,
    /// Stable short name.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// What to do; may be empty.
    pub hint: String,
    /// The exit code that goes with it.
    pub exit: u8,
    /// If this host lacks more than one thing: all of them, including the first. Otherwise empty
    /// and left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lacking: Vec<LackDoc>,
}

impl ErrorDoc {
    /// The object as one line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("strings and a number always encode")
    }
}

/// Returns `error` and the errors reported with it; empty if there is only one.
fn all(error: &UserError) -> Vec<LackDoc> {
    if error.others.is_empty() {
        return Vec::new();
    }
    std::iter::once(error).chain(&error.others).map(LackDoc::from).collect()
}

impl From<&UserError> for ErrorDoc {
    fn from(error: &UserError) -> Self {
        Self {
            schema: ERROR_SCHEMA.to_owned(),
            code: error.code.as_str().to_owned(),
            message: error.message.clone(),
            hint: error.hint.clone(),
            exit: error.exit as u8,
            lacking: all(error),
        }
    }
}
