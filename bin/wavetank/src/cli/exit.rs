//! [`ParseExit`]: the command line ends the program before anything is run.

use wavetank_plan::UserError;

use super::args::OutFile;

/// Why there is no command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ParseExit {
    /// Help or version was asked for: text for stdout, exit 0.
    Help(String),
    /// The words were wrong.
    Error {
        /// What to tell.
        error: UserError,
        /// `--format json` stood somewhere: tell it as `wavetank.error/1` on stdout.
        json: bool,
        /// Files that wanted the result, as far as the words were understood.
        out: Vec<OutFile>,
    },
}
