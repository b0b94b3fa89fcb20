//! [`SearchArgs`]: converted arguments of `wavetank search`.

use std::path::PathBuf;

use wavetank_plan::{Nanos, RunOptions};
use wavetank_report::Language;
use wavetank_search::Setup;

use super::args::{LoadSource, OutFile, OutputFormat};

/// `wavetank search`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SearchArgs {
    /// The URL or experiment file to load.
    pub(crate) goal: LoadSource,
    /// All options except the load and its length.
    pub(crate) options: RunOptions,
    /// `--source auto`: all addresses of the interface towards the target.
    pub(crate) source_auto: bool,
    /// The quantity to vary.
    pub(crate) sought: SearchVariable,
    /// Range, precision and number of levels.
    pub(crate) setup: Setup,
    /// Durations of the parts of a search.
    pub(crate) limits: SearchTiming,
    /// The phase of an experiment file to vary.
    pub(crate) phase: Option<String>,
    /// Output format on stdout.
    pub(crate) format: OutputFormat,
    /// Files that the result is written to as well.
    pub(crate) out: Vec<OutFile>,
    /// Language of an HTML page.
    pub(crate) language: Language,
    /// Directory of stored runs.
    pub(crate) runs_dir: PathBuf,
    /// Whether to keep no archive.
    pub(crate) no_archive: bool,
    /// Whether only errors are printed on stderr.
    pub(crate) quiet: bool,
    /// The command as typed, quoted for a shell, with secrets replaced by `***`.
    pub(crate) command: String,
}

/// The quantity that a search varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchVariable {
    /// Arrival rate.
    Rate,
    /// Virtual users.
    Users,
    /// Connections.
    Connections,
}

/// Durations of the parts of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SearchTiming {
    /// Length of a level without its warm-up.
    pub(crate) length: Nanos,
    /// Warm-up before a level, with the same load.
    pub(crate) warmup: Nanos,
    /// Pause after a level.
    pub(crate) settle: Nanos,
    /// Time limit of the whole search.
    pub(crate) max_time: Option<Nanos>,
}
