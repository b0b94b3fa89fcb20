//! The error of a server that cannot start.

use wavetank_units::{Code, UserError};

/// The error for a thread of the server that could not be started.
pub(crate) fn cannot_start(why: &str) -> UserError {
    UserError::refused(
        Code::NoThreads,
        format!("cannot start a thread: {why}"),
        "use fewer --threads, or raise `ulimit -u`",
    )
}
