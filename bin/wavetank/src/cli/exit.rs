//! [`ParseExit`]: parsing the command line ends the program.

use wavetank_units::UserError;

use super::output_formats::OutFile;

/// Why there is no command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ParseExit {
    /// Help or version was requested: text for stdout, exit 0.
    Help(String),
    /// The arguments are wrong.
    Error {
        /// The error to report.
        error: UserError,
        /// Whether `--format json` was given: then the error is printed as `wavetank.error/1` on
        /// stdout.
        json: bool,
        /// Output files, as far as the arguments could be parsed. They get the error instead of a
        /// result.
        out: Vec<OutFile>,
    },
}
