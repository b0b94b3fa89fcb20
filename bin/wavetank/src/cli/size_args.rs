//! [`SizeArgs`]: what `wavetank size` shall do, every word understood.

use wavetank_plan::RunOptions;
use wavetank_plan::size::SizeOptions;

use super::args::{FileFormat, LoadSource};

/// `wavetank size`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SizeArgs {
    /// What is loaded; `None`: it does not matter.
    pub(crate) goal: Option<LoadSource>,
    /// How much, in the words of `run`.
    pub(crate) options: RunOptions,
    /// What sizing needs beside.
    pub(crate) wishes: SizeOptions,
    /// Shape of the answer on stdout.
    pub(crate) format: FileFormat,
}
