//! [`SizeArgs`]: converted arguments of `wavetank size`.

use wavetank_plan::RunOptions;
use wavetank_plan::size::SizeOptions;

use super::args::{FileFormat, LoadSource};

/// `wavetank size`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SizeArgs {
    /// URL or experiment file; `None` if neither matters.
    pub(crate) goal: Option<LoadSource>,
    /// Amount of load, as options of `run`.
    pub(crate) options: RunOptions,
    /// Further options of sizing.
    pub(crate) wishes: SizeOptions,
    /// Output format on stdout.
    pub(crate) format: FileFormat,
}
