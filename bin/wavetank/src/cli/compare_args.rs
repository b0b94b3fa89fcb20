//! What `compare` and `run … --baseline` are asked for.

use std::path::PathBuf;

use wavetank_report::Language;

use super::args::{OutFile, OutputFormat};

/// Runs of one side at most: more are a mistake in a pattern of the shell, or a label that all runs have.
pub(crate) const RUNS_MAX: usize = 100;

/// `wavetank compare`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CompareArgs {
    /// Words for the runs of side A, which is compared with.
    pub(crate) a: Vec<String>,
    /// Words for the runs of side B.
    pub(crate) b: Vec<String>,
    /// What is asked of them.
    pub(crate) wishes: CompareSettings,
    /// Shape of the result on stdout.
    pub(crate) format: OutputFormat,
    /// The language of a page.
    pub(crate) language: Language,
    /// Files that get the result as well.
    pub(crate) out: Vec<OutFile>,
    /// Where archives lie.
    pub(crate) runs_dir: PathBuf,
}

/// `run … --baseline RUN`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BaselineArgs {
    /// Words for the runs that the new one is compared with; never empty.
    pub(crate) runs: Vec<String>,
    /// What is asked of the comparison.
    pub(crate) wishes: CompareSettings,
}

/// What is asked of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CompareSettings {
    /// `--metric`, as conditions name them; empty: all.
    pub(crate) metrics: Vec<String>,
    /// `--max-regression` as a share.
    pub(crate) max_regression: Option<f64>,
    /// `--seed` of what is drawn.
    pub(crate) seed: u64,
}
