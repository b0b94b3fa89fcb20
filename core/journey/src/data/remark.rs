//! [`DataNote`]: what was noticed about a data file that is no error.

/// Something a person should know about a file that could be read. Nothing is changed silently: what was done is in
/// `message`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataNote {
    /// Stable short name, e.g. `byte_order_mark`.
    pub code: &'static str,
    /// What was seen, and what was done about it.
    pub message: String,
    /// What to do, empty where nothing need be done.
    pub hint: String,
}

impl DataNote {
    pub(super) fn new(code: &'static str, message: String, hint: impl Into<String>) -> Self {
        Self { code, message, hint: hint.into() }
    }
}
