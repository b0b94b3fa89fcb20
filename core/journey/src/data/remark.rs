//! [`DataNote`]: a note about a data file that is not an error.

use wavetank_units::Code;

/// A note for the user about a file that could be read. Nothing is changed silently: `message` says
/// what was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataNote {
    /// Stable short name, e.g. `byte_order_mark`.
    pub code: Code,
    /// The observation, and what was done about it.
    pub message: String,
    /// The recommended action; empty if none is needed.
    pub hint: String,
}

impl DataNote {
    pub(super) fn new(code: Code, message: String, hint: impl Into<String>) -> Self {
        Self { code, message, hint: hint.into() }
    }
}
