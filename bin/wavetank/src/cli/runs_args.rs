//! [`RunsWords`]: arguments of `wavetank runs`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use wavetank_plan::quantity::{parse_count, parse_count_positive, parse_duration_positive, parse_size};
use wavetank_plan::{UserError, sanitize};
use wavetank_store::PruneOptions;

use super::args::{FileFormat, RunFilter, RunStatus, RunsArgs, RunsCommand};
use super::run_options::default_runs_dir;
use super::value_parsers::{parse_choice, parse_optional, with_flag};

/// `wavetank runs`.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Without a subcommand, lists runs, newest last. For example: wavetank runs -n 10
             wavetank runs --status fail --tag build=1204
             wavetank runs show latest
             wavetank runs prune --keep 20 --older-than 30d        lists what it would remove; --yes removes it
             wavetank runs pack 7f3a21; wavetank report 20261121T190000Z-shop-7f3a21.wtrun"
)]
pub(super) struct RunsWords {
    #[command(subcommand)]
    what: Option<RunsSubcommand>,
    #[command(flatten)]
    list: ListWords,
}

#[derive(Debug, Subcommand)]
enum RunsSubcommand {
    /// List the runs of the runs directory, one per line, newest last
    List(ListWords),
    /// Show the contents of one archive: command, host, plan, notes, files
    Show(ShowWords),
    /// Remove old or failed runs; without --yes only list them
    Prune(PruneWords),
    /// Pack a whole run into one file, which report, compare and runs show can read
    Pack(PackWords),
    /// Unpack a packed run into the runs directory
    Unpack(UnpackWords),
}

#[derive(Args, Debug)]
struct ListWords {
    /// Only runs with this text in their name
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Only runs with this result (repeatable)
    #[arg(long, value_name = "pass|fail|invalid|incomplete|running|unfinished|damaged")]
    status: Vec<String>,
    /// Only runs with this label (repeatable; all must match)
    #[arg(long, value_name = "KEY=VALUE")]
    tag: Vec<String>,
    /// Only the newest N of them
    #[arg(short = 'n', long = "newest", value_name = "N", allow_negative_numbers = true)]
    newest: Option<String>,
    /// Output format
    #[arg(long, value_name = "text|json", default_value = "text")]
    format: String,
    /// Directory of stored runs [default: runs]
    #[arg(long, value_name = "DIR")]
    runs_dir: Option<PathBuf>,
}

#[derive(Args, Debug)]
struct ShowWords {
    /// Folder, name or id of a run, `latest`, or a packed run
    #[arg(value_name = "RUN|latest")]
    run: String,
    /// Output format
    #[arg(long, value_name = "text|json", default_value = "text")]
    format: String,
    /// Directory of stored runs [default: $`WAVETANK_RUNS`, or runs]
    #[arg(long, value_name = "DIR", default_value_os_t = default_runs_dir(), hide_default_value = true)]
    runs_dir: PathBuf,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Options combine: --failed --older-than 30d removes runs that are both. A search counts as one run and is removed with all
of its runs. Runs in progress, unreadable runs, linked runs, and folders that are not archives or hold other files are
never removed.")]
struct PruneWords {
    /// Keep the newest N runs and searches, whatever other options say
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    keep: Option<String>,
    /// Only runs that started longer ago than this
    #[arg(long, value_name = "DURATION", allow_negative_numbers = true)]
    older_than: Option<String>,
    /// Only runs that did not pass: failed, invalid, incomplete, unfinished or damaged
    #[arg(long)]
    failed: bool,
    /// Remove the oldest runs until the total size is at most this
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    size_max: Option<String>,
    /// Remove the runs instead of listing them
    #[arg(long)]
    yes: bool,
    /// Directory of stored runs [default: runs]
    #[arg(long, value_name = "DIR")]
    runs_dir: Option<PathBuf>,
}

#[derive(Args, Debug)]
struct PackWords {
    /// Folder, name or id of a run, or `latest`
    #[arg(value_name = "RUN|latest")]
    run: String,
    /// Output file, which must not exist yet [default: FOLDER.wtrun in the current directory]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Directory of stored runs [default: $`WAVETANK_RUNS`, or runs]
    #[arg(long, value_name = "DIR", default_value_os_t = default_runs_dir(), hide_default_value = true)]
    runs_dir: PathBuf,
}

#[derive(Args, Debug)]
struct UnpackWords {
    /// The packed run
    #[arg(value_name = "FILE")]
    pack: PathBuf,
    /// Directory of stored runs, in which the run becomes a folder
    #[arg(long, value_name = "DIR", default_value_os_t = default_runs_dir(), hide_default_value = true)]
    runs_dir: PathBuf,
}

/// Converts all arguments.
pub(super) fn runs(words: RunsWords) -> Result<RunsArgs, UserError> {
    match words.what.unwrap_or(RunsSubcommand::List(words.list)) {
        RunsSubcommand::List(words) => list(words),
        RunsSubcommand::Show(words) => {
            let deed = RunsCommand::Show { run: run(words.run)?, format: format(&words.format)? };
            Ok(RunsArgs { runs_dir: words.runs_dir, is_expected: false, deed })
        }
        RunsSubcommand::Prune(words) => prune(&words),
        RunsSubcommand::Pack(words) => {
            let deed = RunsCommand::Pack { run: run(words.run)?, out: words.out };
            Ok(RunsArgs { runs_dir: words.runs_dir, is_expected: false, deed })
        }
        RunsSubcommand::Unpack(words) => {
            let deed = RunsCommand::Unpack { pack: words.pack };
            Ok(RunsArgs { runs_dir: words.runs_dir, is_expected: false, deed })
        }
    }
}

fn list(words: ListWords) -> Result<RunsArgs, UserError> {
    let outcomes = [
        ("pass", RunStatus::Pass),
        ("fail", RunStatus::Fail),
        ("invalid", RunStatus::Invalid),
        ("incomplete", RunStatus::Incomplete),
        ("running", RunStatus::Running),
        ("unfinished", RunStatus::Unfinished),
        ("damaged", RunStatus::Damaged),
    ];
    let status = words.status.iter().map(|word| with_flag("--status", parse_choice(word, &outcomes, &[])));
    let asked = RunFilter {
        name: words.name,
        status: status.collect::<Result<_, _>>()?,
        tags: words.tag.iter().map(|word| tag(word)).collect::<Result<_, _>>()?,
        newest: parse_optional("-n", words.newest.as_ref(), parse_count_positive)?,
    };
    Ok(all_of(words.runs_dir, RunsCommand::List { asked, format: format(&words.format)? }))
}

fn prune(words: &PruneWords) -> Result<RunsArgs, UserError> {
    let wishes = PruneOptions {
        keep: parse_optional("--keep", words.keep.as_ref(), parse_count)?,
        older_than: parse_optional("--older-than", words.older_than.as_ref(), parse_duration_positive)?,
        failed: words.failed,
        size_max: parse_optional("--size-max", words.size_max.as_ref(), parse_size)?,
    };
    if wishes == PruneOptions::default() {
        return Err(UserError::usage(
            "prune_what",
            "no option selects the runs to remove",
            "wavetank runs prune --keep 20, or --older-than 30d, --failed, --size-max 10GB",
        ));
    }
    Ok(all_of(words.runs_dir.clone(), RunsCommand::Prune { wishes, yes: words.yes }))
}

/// Applies `deed` to all runs of a directory. The default directory may be missing before the first
/// run; a named one must exist.
fn all_of(named: Option<PathBuf>, deed: RunsCommand) -> RunsArgs {
    let is_expected = named.is_some();
    RunsArgs { runs_dir: named.unwrap_or_else(default_runs_dir), is_expected, deed }
}

fn run(word: String) -> Result<String, UserError> {
    if word.is_empty() {
        return Err(UserError::usage("no_run", "the run's name is empty", "wavetank runs show latest"));
    }
    Ok(word)
}

fn format(word: &str) -> Result<FileFormat, UserError> {
    with_flag("--format", parse_choice(word, &[("text", FileFormat::Text), ("json", FileFormat::Json)], &[]))
}

fn tag(word: &str) -> Result<(String, String), UserError> {
    match word.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.to_owned())),
        _ => {
            let message = format!("--tag `{}` has no key and value", sanitize(word));
            Err(UserError::usage("bad_tag", message, "--tag build=1234"))
        }
    }
}
