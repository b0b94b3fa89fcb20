//! [`bad`]: errors of a curl command.

use wavetank_units::UserError;

/// An error in the command.
pub(super) fn bad(message: impl std::fmt::Display, hint: &str) -> UserError {
    UserError::usage("bad_curl", format!("--curl: {message}"), hint)
}
