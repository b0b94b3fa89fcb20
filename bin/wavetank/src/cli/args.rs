//! [`Command`]: what shall be done, every word of the command line understood.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap_complete::Shell;
use wavetank_experiment::Factor;
use wavetank_plan::calibration::CalibrationSchedule;
use wavetank_plan::{
    AllowTarget, EngineChoice, Nanos, RunOptions, Secret, TargetUrl, TlsIdentity, TlsServerOptions,
};
use wavetank_report::Language;
use wavetank_store::PruneOptions;

use super::compare_args::{BaselineArgs, CompareArgs};
use super::demo_args::DemoArgs;
use super::report_options::ReportOptions;
use super::search_args::SearchArgs;
use super::size_args::SizeArgs;

/// One command with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Command {
    /// `wavetank run URL|FILE` or `wavetank URL|FILE`.
    Run(Box<RunArgs>),
    /// `wavetank search URL|FILE`.
    Search(Box<SearchArgs>),
    /// `wavetank serve`.
    Serve(Box<ServeArgs>),
    /// `wavetank report RUN`.
    Report(ReportArgs),
    /// `wavetank runs`.
    Runs(RunsArgs),
    /// `wavetank compare A B`.
    Compare(Box<CompareArgs>),
    /// `wavetank explain`.
    Explain(super::ExplainArgs),
    /// `wavetank demo`.
    Demo(DemoArgs),
    /// `wavetank new FILE`: the file.
    New(PathBuf),
    /// `wavetank check FILE`.
    Check(Box<CheckArgs>),
    /// `wavetank plan FILE`.
    Plan(Box<CheckArgs>),
    /// `wavetank try FILE`.
    Try(Box<TryArgs>),
    /// `wavetank calibrate`.
    Calibrate(Box<CalibrateArgs>),
    /// `wavetank size [URL|FILE]`.
    Size(Box<SizeArgs>),
    /// `wavetank schema [experiment|lab]`.
    Schema(super::SchemaKind),
    /// `wavetank lab`.
    Lab(super::LabArgs),
    /// `wavetank completions SHELL`.
    Completions(Shell),
    /// `wavetank man DIR`: the folder.
    Man(PathBuf),
}

/// `wavetank run`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RunArgs {
    /// What says where to.
    pub(crate) goal: LoadSource,
    /// What and how much; beside a file what it says otherwise.
    pub(crate) options: RunOptions,
    /// `--source auto`: all addresses of the interface towards the target.
    pub(crate) source_auto: bool,
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
    /// The command as typed, quoted for a shell, secrets replaced by `***`: for the archive.
    pub(crate) command: String,
    /// What the run is compared with when it is over.
    pub(crate) baseline: Option<BaselineArgs>,
}

/// What `run` is given to load.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LoadSource {
    /// One request, over and over.
    Url(TargetUrl),
    /// An experiment.
    File(FileArgs),
}

/// `wavetank serve`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServeArgs {
    /// Addresses to listen on; never empty.
    pub(crate) listen: Vec<SocketAddr>,
    /// Threads; `None`: one per allowed CPU, more where connections need their tables of files.
    pub(crate) threads: Option<u32>,
    /// Which driver runs the sockets.
    pub(crate) engine: EngineChoice,
    /// Connections to be ready for; `None`: as many as this host allows without more threads.
    pub(crate) connections: Option<u64>,
    /// Answer unknown paths like `/` instead of 404.
    pub(crate) any: bool,
    /// A planted freeze.
    pub(crate) freeze: Option<Freeze>,
    /// The file of the flash sale's database; `None`: in memory.
    pub(crate) database: Option<PathBuf>,
    /// The file of those who may log in.
    pub(crate) accounts: Option<PathBuf>,
    /// TLS on all addresses.
    pub(crate) tls: Option<ServeTls>,
}

/// How `wavetank serve` speaks TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServeTls {
    /// The certificate and its key; `None`: new ones are made.
    pub(crate) identity: Option<TlsIdentity>,
    /// A file that gets the certificate that is made.
    pub(crate) cert_out: Option<PathBuf>,
    /// All else.
    pub(crate) options: TlsServerOptions,
}

/// A time in which the built-in target answers nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Freeze {
    /// When it begins, counted from the first request.
    pub(crate) at: Nanos,
    /// How long it lasts.
    pub(crate) length: Nanos,
}

/// `wavetank report`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReportArgs {
    /// Which run.
    pub(crate) run: RunRef,
    /// Shape of the result on stdout.
    pub(crate) format: OutputFormat,
    /// Files that get the result as well.
    pub(crate) out: Vec<OutFile>,
    /// What of it.
    pub(crate) wants: ReportOptions,
    /// Where archives lie.
    pub(crate) runs_dir: PathBuf,
}

/// `wavetank runs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunsArgs {
    /// Where archives lie.
    pub(crate) runs_dir: PathBuf,
    /// It is an error if that is not there.
    pub(crate) is_expected: bool,
    /// What to do there.
    pub(crate) deed: RunsCommand,
}

/// What `runs` is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RunsCommand {
    /// A line for each run.
    List {
        /// Which ones.
        asked: RunFilter,
        /// Shape of the answer on stdout.
        format: FileFormat,
    },
    /// What is in one archive.
    Show {
        /// Which one.
        run: String,
        /// Shape of the answer on stdout.
        format: FileFormat,
    },
    /// Remove runs.
    Prune {
        /// Which ones.
        wishes: PruneOptions,
        /// Really.
        yes: bool,
    },
    /// One run into one file.
    Pack {
        /// Which one.
        run: String,
        /// The file; `None`: by the folder's name, here.
        out: Option<PathBuf>,
    },
    /// A packed run into the runs directory.
    Unpack {
        /// The file.
        pack: PathBuf,
    },
}

/// Which runs a list is to have; what is empty asks for nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunFilter {
    /// Part of the name.
    pub(crate) name: Option<String>,
    /// One of these.
    pub(crate) status: Vec<RunStatus>,
    /// All of these labels.
    pub(crate) tags: Vec<(String, String)>,
    /// So many of the newest.
    pub(crate) newest: Option<u64>,
}

/// How a run ended, for a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunStatus {
    /// Everything held.
    Pass,
    /// Something broke.
    Fail,
    /// The generator is in doubt.
    Invalid,
    /// It ended before its time.
    Incomplete,
    /// It is under way.
    Running,
    /// It was killed.
    Unfinished,
    /// It cannot be read, or is of a later version.
    Damaged,
}

/// Names a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RunRef {
    /// The youngest in the runs directory.
    Latest,
    /// An archive's folder, its name in the runs directory, or the run's id.
    Named(String),
}

/// What is asked of an experiment file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileArgs {
    /// The file.
    pub(crate) file: PathBuf,
    /// `--set`, in order.
    pub(crate) set: Vec<(String, String)>,
    /// `--target`, in order, not yet read: only the file knows the names.
    pub(crate) target: Vec<String>,
    /// `--scale`.
    pub(crate) scale: Option<Factor>,
    /// `--speed`.
    pub(crate) speed: Option<Factor>,
    /// `--secret`, in order.
    pub(crate) secrets: Vec<(String, Secret)>,
    /// Shape of the answer on stdout.
    pub(crate) format: FileFormat,
}

/// `wavetank check`, `wavetank plan`: what `run` would be given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CheckArgs {
    /// The file, as it is to be read.
    pub(crate) file: FileArgs,
    /// What stands in place of the file's own words.
    pub(crate) options: RunOptions,
    /// `--source auto`: all addresses of the interface towards the target.
    pub(crate) source_auto: bool,
}

/// `wavetank try`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TryArgs {
    /// The file, as it is to be read.
    pub(crate) file: FileArgs,
    /// What stands in place of the file's own words.
    pub(crate) options: RunOptions,
    /// Names of the scenarios wanted; empty: all.
    pub(crate) scenarios: Vec<String>,
    /// Pauses are waited for.
    pub(crate) think: bool,
    /// Requests of one scenario at most.
    pub(crate) requests: u64,
    /// The command as typed, secrets replaced by `***`.
    pub(crate) command: String,
}

/// `wavetank calibrate`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CalibrateArgs {
    /// What to do.
    pub(crate) what: CalibrateCommand,
    /// Shape of the answer on stdout.
    pub(crate) format: FileFormat,
    /// Where calibrations are kept, if not in the usual place.
    pub(crate) out: Option<PathBuf>,
}

/// What `calibrate` is asked for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CalibrateCommand {
    /// Measure and store.
    Measure {
        /// How the time is divided.
        course: CalibrationSchedule,
        /// Which driver runs the sockets.
        engine: EngineChoice,
        /// A server elsewhere; `None`: our own.
        target: Option<TargetUrl>,
        /// Targets beside loopback and private addresses.
        allow_target: Vec<AllowTarget>,
        /// No talk on stderr beside errors.
        quiet: bool,
        /// The command as typed.
        command: String,
    },
    /// Show what is stored.
    Show,
    /// Be the server of another calibration.
    Target {
        /// The CPUs to run on.
        cpus: Vec<u32>,
        /// Which driver runs the sockets.
        engine: EngineChoice,
    },
}

/// Shape of what is told about a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FileFormat {
    /// For people.
    #[default]
    Text,
    /// One object.
    Json,
}

/// Shape of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// For people.
    #[default]
    Text,
    /// One object, `wavetank.run/1`.
    Json,
    /// `JUnit` XML: thresholds and checks as test cases.
    Junit,
    /// A row for each interval.
    Csv,
    /// A summary for a pull request or a wiki.
    Markdown,
    /// `HdrHistogram`'s percentile distribution.
    Hgrm,
    /// `HdrHistogram`'s interval log.
    Hlog,
    /// One self-contained page.
    Html,
}

impl OutputFormat {
    /// Whether it is made of the archive's intervals; the others can do with `run.json` alone.
    pub(crate) const fn needs_intervals(self) -> bool {
        matches!(self, Self::Csv | Self::Hgrm | Self::Hlog)
    }

    /// Whether it is of one load, of which a search has many.
    pub(crate) const fn is_single_run(self) -> bool {
        matches!(self, Self::Hgrm | Self::Hlog)
    }

    /// Whether it can hold an error in place of a result, so that nobody takes the one for the other.
    pub(crate) const fn can_hold_errors(self) -> bool {
        matches!(self, Self::Text | Self::Json | Self::Junit)
    }
}

/// One `--out FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutFile {
    /// The file.
    pub(crate) path: PathBuf,
    /// By its suffix.
    pub(crate) format: OutputFormat,
}
