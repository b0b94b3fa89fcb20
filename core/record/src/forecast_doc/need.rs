//! [`NeedDoc`]: what a plan takes of this host, and what there is.

use serde::{Deserialize, Serialize};
use wavetank_units::UserError;

/// One thing that a plan takes of its host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeedDoc {
    /// `connections`, `source_ports`, `memory` or `threads`.
    pub what: String,
    /// Peak requirement.
    pub needed: u64,
    /// Available amount; `null` if unlimited.
    pub available: Option<u64>,
    /// `count` or `bytes`.
    pub unit: String,
    /// Explanation of how the numbers were derived.
    pub why: String,
}

/// Something that this host lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
