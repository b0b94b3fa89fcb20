//! [`Errors`]: all errors of one command line, so that they are reported together.

use wavetank_units::UserError;

/// Collects errors in the order in which they are found.
#[derive(Debug, Default)]
pub(super) struct Errors(Vec<UserError>);

impl Errors {
    /// Adds an error.
    pub(super) fn push(&mut self, error: UserError) {
        self.0.push(error);
    }

    /// Returns all errors as one if there is any.
    pub(super) fn none(self) -> Result<Self, UserError> {
        self.finish(Ok(())).map(|()| Self::default())
    }

    /// Returns the value, or a default in place of an error, which is kept.
    pub(super) fn keep<T: Default>(&mut self, result: Result<T, UserError>) -> T {
        result.unwrap_or_else(|error| {
            self.0.push(error);
            T::default()
        })
    }

    /// Returns the value of `result` if there is no error, and otherwise all errors, those of
    /// `result` first.
    pub(super) fn finish<T>(self, result: Result<T, UserError>) -> Result<T, UserError> {
        match result {
            Ok(value) => UserError::combine(self.0).map_or(Ok(value), Err),
            Err(first) => {
                let all = std::iter::once(first).chain(self.0).collect();
                UserError::combine(all).map_or_else(|| unreachable!("there is one"), Err)
            }
        }
    }
}

/// Puts the option before the message of an error in its value.
pub(super) fn with_flag<T>(option: &str, result: Result<T, UserError>) -> Result<T, UserError> {
    result.map_err(|error| UserError { message: format!("{option} {}", error.message), ..error })
}
