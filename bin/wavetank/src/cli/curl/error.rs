//! [`bad`]: errors of a curl command.

use wavetank_units::{Code, UserError};

/// An error in the command.
pub(super) fn bad(message: impl std::fmt::Display, hint: &str) -> UserError {
    UserError::usage(Code::BadCurl, format!("--curl: {message}"), hint)
}
