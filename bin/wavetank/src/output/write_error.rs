//! [`WriteError`]: why a result could not be written.

use std::io;

use wavetank_units::UserError;

/// Why a format could not be written.
pub(crate) enum WriteError {
    /// There is no place for it.
    Io(io::Error),
    /// It cannot be made.
    Unmade(UserError),
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
