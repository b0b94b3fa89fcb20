//! [`RunsArgs`]: arguments of `wavetank runs`.

use std::path::PathBuf;

use clap::builder::ValueParserFactory;
use clap::{Args, Subcommand};
use wavetank_store::PruneOptions;
use wavetank_units::quantity::{parse_count, parse_count_positive, parse_duration_positive, parse_size};
use wavetank_units::{Code, Nanos, UserError};

use super::choice::Choice;
use super::output_formats::FileFormat;
use super::value_parsers::{default_runs_dir, parse_run, parse_tag};

/// `wavetank runs`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Without a subcommand, lists runs, newest last. For example: wavetank runs -n 10
             wavetank runs --status fail --tag build=1204
             wavetank runs show latest
             wavetank runs prune --keep 20 --older-than 30d        lists what it would remove; --yes removes it
             wavetank runs pack 7f3a21; wavetank report 20261121T190000Z-shop-7f3a21.wtrun"
)]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    what: Option<RunsCommand>,
    #[command(flatten)]
    list: RunFilter,
}

/// A subcommand of `runs`.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum RunsCommand {
    /// List the runs of the runs directory, one per line, newest last
    List(RunFilter),
    /// Show the contents of one archive: command, host, plan, notes, files
    Show(ShowArgs),
    /// Remove old or failed runs; without --yes only list them
    Prune(PruneArgs),
    /// Pack a whole run into one file, which report, compare and runs show can read
    Pack(PackArgs),
    /// Unpack a packed run into the runs directory
    Unpack(UnpackArgs),
}

/// `runs list`: which runs to list. An empty field does not filter.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunFilter {
    /// Only runs with this text in their name
    #[arg(long, value_name = "TEXT")]
    pub(crate) name: Option<String>,
    /// Only runs with this result (repeatable)
    #[arg(long)]
    pub(crate) status: Vec<RunStatus>,
    /// Only runs with this label (repeatable; all must match)
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_tag)]
    pub(crate) tag: Vec<(String, String)>,
    /// Only the newest N of them
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count_positive)]
    pub(crate) newest: Option<u64>,
    /// Output format
    #[arg(long, default_value = "text")]
    pub(crate) format: FileFormat,
    /// Directory of stored runs [default: `WAVETANK_RUNS`, or runs]
    #[arg(long, value_name = "DIR")]
    pub(crate) runs_dir: Option<PathBuf>,
}

/// `runs show`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShowArgs {
    /// Folder, name or id of a run, `latest`, or a packed run
    #[arg(value_name = "RUN|latest", value_parser = |text: &str| parse_run(text, "wavetank runs show latest"))]
    pub(crate) run: String,
    /// Output format
    #[arg(long, default_value = "text")]
    pub(crate) format: FileFormat,
    /// Directory of stored runs [default: `WAVETANK_RUNS`, or runs]
    #[arg(long, value_name = "DIR", default_value_os_t = default_runs_dir(), hide_default_value = true)]
    pub(crate) runs_dir: PathBuf,
}

/// `runs prune`: which runs to remove.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
Options combine: --failed --older-than 30d removes runs that are both. A search counts as one run and is removed with all
of its runs. Runs in progress, unreadable runs, linked runs, and folders that are not archives or hold other files are
never removed.")]
pub(crate) struct PruneArgs {
    /// Keep the newest N runs and searches, whatever other options say
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_count)]
    pub(crate) keep: Option<u64>,
    /// Only runs that started longer ago than this
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true, value_parser = parse_duration_positive)]
    pub(crate) older_than: Option<Nanos>,
    /// Only runs that did not pass: failed, invalid, incomplete, unfinished or damaged
    #[arg(long)]
    pub(crate) failed: bool,
    /// Remove the oldest runs until the total size is at most this
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = parse_size)]
    pub(crate) size_max: Option<u64>,
    /// Remove the runs instead of listing them
    #[arg(long)]
    pub(crate) yes: bool,
    /// Directory of stored runs [default: `WAVETANK_RUNS`, or runs]
    #[arg(long, value_name = "DIR")]
    pub(crate) runs_dir: Option<PathBuf>,
}

/// `runs pack`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct PackArgs {
    /// Folder, name or id of a run, or `latest`
    #[arg(value_name = "RUN|latest", value_parser = |text: &str| parse_run(text, "wavetank runs show latest"))]
    pub(crate) run: String,
    /// Output file, which must not exist yet [default: FOLDER.wtrun in the current directory]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Directory of stored runs [default: `WAVETANK_RUNS`, or runs]
    #[arg(long, value_name = "DIR", default_value_os_t = default_runs_dir(), hide_default_value = true)]
    pub(crate) runs_dir: PathBuf,
}

/// `runs unpack`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnpackArgs {
    /// The packed run
    #[arg(value_name = "FILE")]
    pub(crate) pack: PathBuf,
    /// Directory of stored runs, in which the run becomes a folder
    #[arg(long, value_name = "DIR", default_value_os_t = default_runs_dir(), hide_default_value = true)]
    pub(crate) runs_dir: PathBuf,
}

impl RunsArgs {
    /// Returns the subcommand.
    pub(crate) fn command(self) -> RunsCommand {
        self.what.unwrap_or(RunsCommand::List(self.list))
    }

    /// Refuses to prune without a selection.
    pub(super) fn check(&self) -> Result<(), UserError> {
        match &self.what {
            Some(RunsCommand::Prune(args)) if args.selection() == PruneOptions::default() => {
                Err(UserError::usage(
                    Code::PruneWhat,
                    "no option selects the runs to remove",
                    "wavetank runs prune --keep 20, or --older-than 30d, --failed, --size-max 10GB",
                ))
            }
            _ => Ok(()),
        }
    }

    /// Whether the output is JSON.
    pub(crate) fn is_json(&self) -> bool {
        let format = match &self.what {
            None => self.list.format,
            Some(RunsCommand::List(args)) => args.format,
            Some(RunsCommand::Show(args)) => args.format,
            Some(_) => FileFormat::Text,
        };
        format == FileFormat::Json
    }
}

impl RunsCommand {
    /// Returns the runs directory, and whether it must exist: the default directory of a command
    /// for all runs may be missing before the first run.
    pub(crate) fn runs_dir(&self) -> (PathBuf, bool) {
        match self {
            Self::List(RunFilter { runs_dir, .. }) | Self::Prune(PruneArgs { runs_dir, .. }) => {
                (runs_dir.clone().unwrap_or_else(default_runs_dir), runs_dir.is_some())
            }
            Self::Show(ShowArgs { runs_dir, .. })
            | Self::Pack(PackArgs { runs_dir, .. })
            | Self::Unpack(UnpackArgs { runs_dir, .. }) => (runs_dir.clone(), false),
        }
    }
}

impl PruneArgs {
    /// Returns which runs to remove.
    pub(crate) fn selection(&self) -> PruneOptions {
        PruneOptions {
            keep: self.keep,
            older_than: self.older_than,
            failed: self.failed,
            size_max: self.size_max,
        }
    }
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

impl ValueParserFactory for RunStatus {
    type Parser = Choice<Self>;

    fn value_parser() -> Choice<Self> {
        Choice::new(&[
            ("pass", Self::Pass),
            ("fail", Self::Fail),
            ("invalid", Self::Invalid),
            ("incomplete", Self::Incomplete),
            ("running", Self::Running),
            ("unfinished", Self::Unfinished),
            ("damaged", Self::Damaged),
        ])
    }
}
