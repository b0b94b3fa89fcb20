//! [`LowerError`]: the reason why there is no plan.

use wavetank_grammar::Diagnostic;
use wavetank_units::UserError;

/// The reason why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LowerError {
    /// A mistake in the file.
    File(Diagnostic),
    /// A problem outside the file.
    Outside(UserError),
}

impl From<Diagnostic> for LowerError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::File(diagnostic)
    }
}

impl From<UserError> for LowerError {
    fn from(error: UserError) -> Self {
        Self::Outside(error)
    }
}

impl LowerError {
    /// Returns the error without a position, for an experiment that is not in a file.
    pub(crate) fn without_place(self) -> UserError {
        match self {
            Self::Outside(error) => error,
            Self::File(one) => UserError::usage(one.code, one.message, one.hint),
        }
    }

    /// Returns the error as one line that starts with the position in the file.
    pub fn into_user_error(self, file: &str) -> UserError {
        match self {
            Self::Outside(error) => error,
            Self::File(one) => {
                let message = match one.place {
                    Some(place) => format!("{file}:{}:{}: {}", place.line, place.column, one.message),
                    None => format!("{file}: {}", one.message),
                };
                UserError::usage(one.code, message, one.hint)
            }
        }
    }
}
