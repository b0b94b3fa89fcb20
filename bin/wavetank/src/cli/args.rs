//! [`Command`]: what the program is to do, converted from the command line.

use std::net::SocketAddr;
use std::path::PathBuf;

pub(crate) use super::output_formats::{FileFormat, OutFile, OutputFormat};

use clap_complete::Shell;
use wavetank_experiment::{Factor, UrlRequest};
use wavetank_plan::calibration::CalibrationSchedule;
use wavetank_plan::{
    AllowTarget, EngineChoice, Nanos, PemFile, RunOptions, Secret, TargetUrl, TlsIdentity, TlsServerOptions,
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
    /// The URL or experiment file to load.
    pub(crate) goal: LoadSource,
    /// The load and its settings; with an experiment file, the values that replace those of the
    /// file.
    pub(crate) options: RunOptions,
    /// `--source auto`: all addresses of the interface towards the target.
    pub(crate) source_auto: bool,
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
    /// The command as typed, quoted for a shell, with secrets replaced by `***`. The archive stores
    /// it.
    pub(crate) command: String,
    /// Runs to compare the finished run with.
    pub(crate) baseline: Option<BaselineArgs>,
}

/// What `run` is given to load.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LoadSource {
    /// One request, repeated.
    Url(TargetUrl),
    /// An experiment file, or one request that needs an experiment: with templates, for example.
    File(FileArgs),
}

/// `wavetank serve`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServeArgs {
    /// Addresses to listen on; never empty.
    pub(crate) listen: Vec<SocketAddr>,
    /// Number of threads; `None`: one per allowed CPU, more if the connections need their own file
    /// tables.
    pub(crate) threads: Option<u32>,
    /// Socket driver.
    pub(crate) engine: EngineChoice,
    /// Number of simultaneous connections to prepare for; `None`: as many as this host allows
    /// without more threads.
    pub(crate) connections: Option<u64>,
    /// Answer unknown paths like `/` instead of 404.
    pub(crate) any: bool,
    /// A freeze on purpose.
    pub(crate) freeze: Option<Freeze>,
    /// Database file of the flash sale; `None`: in memory.
    pub(crate) database: Option<PathBuf>,
    /// File of the accounts that may log in.
    pub(crate) accounts: Option<PathBuf>,
    /// TLS settings, used on all addresses; `None`: no TLS.
    pub(crate) tls: Option<ServeTls>,
}

/// TLS settings of `wavetank serve`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServeTls {
    /// The certificate and its key; `None`: a new pair is generated.
    pub(crate) identity: Option<TlsIdentity>,
    /// File that a generated certificate is written to.
    pub(crate) cert_out: Option<PathBuf>,
    /// Versions, groups, ciphers, ALPN, tickets and client CAs.
    pub(crate) options: TlsServerOptions,
}

/// A time in which the built-in server answers no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Freeze {
    /// Start, counted from the first request.
    pub(crate) at: Nanos,
    /// Duration.
    pub(crate) length: Nanos,
}

/// `wavetank report`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReportArgs {
    /// The run to show.
    pub(crate) run: RunRef,
    /// Output format on stdout.
    pub(crate) format: OutputFormat,
    /// Files that the result is written to as well.
    pub(crate) out: Vec<OutFile>,
    /// Options of single formats: times, step, rows, language.
    pub(crate) wants: ReportOptions,
    /// Directory of stored runs.
    pub(crate) runs_dir: PathBuf,
}

/// `wavetank runs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunsArgs {
    /// Directory of stored runs.
    pub(crate) runs_dir: PathBuf,
    /// Whether a missing directory is an error, because the user named it.
    pub(crate) is_expected: bool,
    /// The subcommand.
    pub(crate) deed: RunsCommand,
}

/// A subcommand of `runs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RunsCommand {
    /// Lists runs, one line each.
    List {
        /// Which runs to list.
        asked: RunFilter,
        /// Output format on stdout.
        format: FileFormat,
    },
    /// Shows the contents of one archive.
    Show {
        /// The run.
        run: String,
        /// Output format on stdout.
        format: FileFormat,
    },
    /// Removes runs.
    Prune {
        /// Which runs to remove.
        wishes: PruneOptions,
        /// Whether to remove them; otherwise they are only listed.
        yes: bool,
    },
    /// Packs one run into one file.
    Pack {
        /// The run.
        run: String,
        /// Output file; `None`: named after the run's directory, in the current directory.
        out: Option<PathBuf>,
    },
    /// Unpacks a packed run into the runs directory.
    Unpack {
        /// The packed run.
        pack: PathBuf,
    },
}

/// Filter of a list of runs. An empty field does not filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RunFilter {
    /// Part of the run's name.
    pub(crate) name: Option<String>,
    /// The run has one of these statuses.
    pub(crate) status: Vec<RunStatus>,
    /// The run has all of these labels.
    pub(crate) tags: Vec<(String, String)>,
    /// At most this many runs, newest first.
    pub(crate) newest: Option<u64>,
}

/// Status of a run in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunStatus {
    /// All thresholds and checks passed.
    Pass,
    /// A threshold or check failed.
    Fail,
    /// The load generator was in doubt.
    Invalid,
    /// The run ended early.
    Incomplete,
    /// The run is in progress.
    Running,
    /// The run was killed.
    Unfinished,
    /// The archive cannot be read, or a later version wrote it.
    Damaged,
}

/// Reference to a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RunRef {
    /// The newest run in the runs directory.
    Latest,
    /// A directory of an archive, its name in the runs directory, or the run's id.
    Named(String),
}

/// Where an experiment comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ExperimentSource {
    /// A file.
    File(PathBuf),
    /// The request of a URL on the command line.
    Url {
        /// The request.
        request: Box<UrlRequest>,
        /// Files that options name, read already.
        files: Vec<PemFile>,
    },
}

/// An experiment with the options that change how it is read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileArgs {
    /// The file, or the request that takes its place.
    pub(crate) source: ExperimentSource,
    /// `--set`, in order.
    pub(crate) set: Vec<(String, String)>,
    /// `--target`, in order, not yet parsed: only the file knows the names of its targets.
    pub(crate) target: Vec<String>,
    /// `--scale`.
    pub(crate) scale: Option<Factor>,
    /// `--speed`.
    pub(crate) speed: Option<Factor>,
    /// `--secret`, in order.
    pub(crate) secrets: Vec<(String, Secret)>,
    /// Output format on stdout.
    pub(crate) format: FileFormat,
}

/// `wavetank check`, `wavetank plan`: the same arguments as `run`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CheckArgs {
    /// The file.
    pub(crate) file: FileArgs,
    /// Values that replace those of the file.
    pub(crate) options: RunOptions,
    /// `--source auto`: all addresses of the interface towards the target.
    pub(crate) source_auto: bool,
}

/// `wavetank try`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TryArgs {
    /// The file.
    pub(crate) file: FileArgs,
    /// Values that replace those of the file.
    pub(crate) options: RunOptions,
    /// Names of the scenarios to run; empty: all.
    pub(crate) scenarios: Vec<String>,
    /// Whether think times are waited for.
    pub(crate) think: bool,
    /// Maximum number of requests of one scenario.
    pub(crate) requests: u64,
    /// The command as typed, with secrets replaced by `***`.
    pub(crate) command: String,
}

/// `wavetank calibrate`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CalibrateArgs {
    /// What to do.
    pub(crate) what: CalibrateCommand,
    /// Output format on stdout.
    pub(crate) format: FileFormat,
    /// File of the stored calibrations; `None`: the default file.
    pub(crate) out: Option<PathBuf>,
}

/// A mode of `calibrate`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CalibrateCommand {
    /// Measures and stores the result.
    Measure {
        /// Number and length of the rounds.
        course: CalibrationSchedule,
        /// Socket driver.
        engine: EngineChoice,
        /// A server to measure against; `None`: the built-in one.
        target: Option<TargetUrl>,
        /// Allowed targets in addition to loopback and private addresses.
        allow_target: Vec<AllowTarget>,
        /// Whether only errors are printed on stderr.
        quiet: bool,
        /// The command as typed.
        command: String,
    },
    /// Shows the stored calibration.
    Show,
    /// Acts as the server of another calibration.
    Target {
        /// The CPUs to run on.
        cpus: Vec<u32>,
        /// Socket driver.
        engine: EngineChoice,
    },
}
