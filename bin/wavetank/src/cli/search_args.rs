//! [`SearchArgs`]: what `wavetank search` shall do, every word understood.

use std::path::PathBuf;

use wavetank_plan::{Nanos, RunOptions};
use wavetank_report::Language;
use wavetank_search::Setup;

use super::args::{LoadSource, OutFile, OutputFormat};

/// `wavetank search`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SearchArgs {
    /// What says where to.
    pub(crate) goal: LoadSource,
    /// All but the load and its length.
    pub(crate) options: RunOptions,
    /// `--source auto`: all addresses of the interface towards the target.
    pub(crate) source_auto: bool,
    /// What is varied.
    pub(crate) sought: SearchVariable,
    /// Which levels.
    pub(crate) setup: Setup,
    /// How long everything takes.
    pub(crate) limits: SearchTiming,
    /// The phase of a file that is varied.
    pub(crate) phase: Option<String>,
    /// Shape of the result on stdout.
    pub(crate) format: OutputFormat,
    /// Files that get the result as well.
    pub(crate) out: Vec<OutFile>,
    /// The language of a page.
    pub(crate) language: Language,
    /// Where archives lie.
    pub(crate) runs_dir: PathBuf,
    /// Keep no archive.
    pub(crate) no_archive: bool,
    /// No talk on stderr beside errors.
    pub(crate) quiet: bool,
    /// The command as typed, quoted for a shell, secrets replaced by `***`.
    pub(crate) command: String,
}

/// What a search varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchVariable {
    /// Arrivals per time.
    Rate,
    /// Virtual users.
    Users,
    /// Connections.
    Connections,
}

/// How long the parts of a search take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SearchTiming {
    /// A level, its warm-up apart.
    pub(crate) length: Nanos,
    /// The same load ahead of it.
    pub(crate) warmup: Nanos,
    /// Rest after it.
    pub(crate) settle: Nanos,
    /// All of it at the most.
    pub(crate) max_time: Option<Nanos>,
}
