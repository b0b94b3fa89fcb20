//! Options of `compare` and `run … --baseline`.

use std::path::PathBuf;

use wavetank_report::Language;

use super::args::{OutFile, OutputFormat};

/// Most runs of one side. More are a mistake in a shell pattern, or a label that all runs have.
pub(crate) const RUNS_MAX: usize = 100;

/// `wavetank compare`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CompareArgs {
    /// Names of the runs of side A, the reference.
    pub(crate) a: Vec<String>,
    /// Names of the runs of side B.
    pub(crate) b: Vec<String>,
    /// Options of the comparison.
    pub(crate) wishes: CompareSettings,
    /// Output format on stdout.
    pub(crate) format: OutputFormat,
    /// The language of a page.
    pub(crate) language: Language,
    /// Files to write the result to as well.
    pub(crate) out: Vec<OutFile>,
    /// Directory of stored runs.
    pub(crate) runs_dir: PathBuf,
}

/// `run … --baseline RUN`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BaselineArgs {
    /// Names of the runs that the new one is compared with; never empty.
    pub(crate) runs: Vec<String>,
    /// Options of the comparison.
    pub(crate) wishes: CompareSettings,
}

/// Options of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CompareSettings {
    /// `--metric`, named as in conditions; empty for all.
    pub(crate) metrics: Vec<String>,
    /// `--max-regression` as a share.
    pub(crate) max_regression: Option<f64>,
    /// `--seed` of the draws.
    pub(crate) seed: u64,
}
