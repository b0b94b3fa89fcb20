//! `wavetank runs`: lists and manages the runs directory.

mod now;

use std::path::{Path, PathBuf};

use wavetank_record::{RUNS_SCHEMA, RunLine, RunState, RunsDoc, Status};
use wavetank_report::{archive_text, run_lines, runs_text};
use wavetank_store::{PACK_SUFFIX, PrunePlan, RunsDir};
use wavetank_units::quantity::{format_grouped, show_size};
use wavetank_units::{Code, ExitCode, UserError, sanitize};

use super::terminal_width::terminal_width;
use crate::cli::{FileFormat, PruneArgs, RunFilter, RunStatus, RunsArgs, RunsCommand};
use crate::output;

/// Runs the subcommand. Exit 0 on success, whatever the results of the runs; else 2.
pub(crate) fn runs(args: RunsArgs) -> Result<u8, UserError> {
    let command = args.command();
    let (folder, is_expected) = command.runs_dir();
    let runs = RunsDir::new(&folder);
    if is_expected {
        runs.require_exists()?;
    }
    match command {
        RunsCommand::List(filter) => list(&runs, &filter)?,
        RunsCommand::Show(args) => show(&runs, &args.run, args.format)?,
        RunsCommand::Prune(args) => return prune(&runs, &args),
        RunsCommand::Pack(args) => pack(&runs, &args.run, args.out)?,
        RunsCommand::Unpack(args) => {
            let folder = runs.unpack(&args.pack)?;
            output::print(&format!("{}\n", sanitize(&folder.to_string_lossy())))?;
        }
    }
    Ok(ExitCode::Pass as u8)
}

fn list(runs: &RunsDir, filter: &RunFilter) -> Result<(), UserError> {
    let listing = runs.list()?;
    let mut lines: Vec<RunLine> =
        listing.runs.iter().map(wavetank_store::summarize).filter(|run| fits(run, filter)).collect();
    let newest = filter.newest.map_or(usize::MAX, |newest| usize::try_from(newest).unwrap_or(usize::MAX));
    lines.drain(..lines.len().saturating_sub(newest));
    let doc = RunsDoc {
        schema: RUNS_SCHEMA.to_owned(),
        runs_dir: runs.path().to_string_lossy().into_owned(),
        total: listing.runs.len() as u64,
        runs: lines,
        foreign: listing.foreign,
    };
    output::print(&match filter.format {
        FileFormat::Text => runs_text(&doc, terminal_width()),
        FileFormat::Json => doc.to_json() + "\n",
    })
}

/// Whether `run` passes the filter.
fn fits(run: &RunLine, filter: &RunFilter) -> bool {
    let named = filter.name.as_ref().is_none_or(|part| run.name.contains(part.as_str()));
    let tagged = filter.tag.iter().all(|(key, value)| run.tags.get(key) == Some(value));
    named && tagged && (filter.status.is_empty() || filter.status.iter().any(|one| ended(run, *one)))
}

fn ended(run: &RunLine, outcome: RunStatus) -> bool {
    let verdict = |status| run.state == RunState::Finished && run.verdict == Some(status);
    match outcome {
        RunStatus::Pass => verdict(Status::Pass),
        RunStatus::Fail => verdict(Status::Fail),
        RunStatus::Invalid => verdict(Status::Invalid),
        RunStatus::Incomplete => verdict(Status::Incomplete),
        RunStatus::Running => run.state == RunState::Running,
        RunStatus::Unfinished => run.state == RunState::Unfinished,
        RunStatus::Damaged => matches!(run.state, RunState::Damaged | RunState::Newer),
    }
}

fn show(runs: &RunsDir, word: &str, format: FileFormat) -> Result<(), UserError> {
    let doc = wavetank_store::inspect(&runs.find(word)?)?;
    output::print(&match format {
        FileFormat::Text => archive_text(&doc, terminal_width()),
        FileFormat::Json => doc.to_json() + "\n",
    })
}

fn pack(runs: &RunsDir, word: &str, out: Option<PathBuf>) -> Result<(), UserError> {
    let found = runs.find(word)?;
    if found.is_file() {
        let message = format!("`{}` is packed already", sanitize(&found.to_string_lossy()));
        return Err(UserError::usage(
            Code::RunPacked,
            message,
            "name a run by its folder, its id, or `latest`",
        ));
    }
    let out = out.unwrap_or_else(|| default_out(&found));
    let packed = wavetank_store::pack(&found, &out, env!("CARGO_PKG_VERSION"))?;
    let path = packed.path.to_string_lossy();
    let mut text = format!(
        "packed {} files, {}, into `{}`, {}\n",
        format_grouped(packed.files as u64),
        show_size(packed.unpacked_bytes),
        sanitize(&path),
        show_size(packed.bytes),
    );
    let left = |left: &String| format!("left out: `{}`, which is not part of an archive\n", sanitize(left));
    text.extend(packed.left_out.iter().map(left));
    text.extend([format!("next: wavetank report {}\n", sanitize(&path))]);
    output::print(&text)
}

/// Returns the default output file: the name of the run's directory, in the current directory.
fn default_out(folder: &Path) -> PathBuf {
    // `.` and `..` have a name only after they are resolved.
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let mut name = whole.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{PACK_SUFFIX}"));
    PathBuf::from(name)
}

fn prune(runs: &RunsDir, args: &PruneArgs) -> Result<u8, UserError> {
    let now = now::now();
    let pruning = runs.prunable(args.selection(), now)?;
    output::print(&prune_text(&pruning))?;
    if pruning.going.is_empty() && pruning.searches.is_empty() && pruning.leftovers.is_empty() {
        output::print("nothing to remove\n")?;
        return Ok(ExitCode::Pass as u8);
    }
    if !args.yes {
        let runs: u64 = pruning.going.iter().map(|run| run.bytes).sum();
        let bytes = runs + pruning.searches.iter().map(|search| search.bytes).sum::<u64>();
        output::print(&format!(
            "would remove {}, {}; nothing was removed\nnext: the same command with --yes\n",
            things(pruning.going.len() as u64, pruning.searches.len() as u64),
            show_size(bytes),
        ))?;
        return Ok(ExitCode::Pass as u8);
    }
    let pruned = runs.prune(&pruning, now);
    let removed = format!("removed {}, {}", things(pruned.runs, pruned.searches), show_size(pruned.bytes));
    let gone = pruned.gone.iter().map(|name| format!("already gone: `{name}`"));
    output::print(&(gone.chain([removed]).collect::<Vec<_>>().join("\n") + "\n"))?;
    match pruned.refused.first() {
        None => Ok(ExitCode::Pass as u8),
        Some((name, why)) => Err(UserError::usage(
            Code::NotRemoved,
            format!("{} could not be removed: `{name}`: {why}", format_grouped(pruned.refused.len() as u64)),
            "check the owner of these files; everything else was removed",
        )),
    }
}

/// Describes the runs to remove, and selected ones that stay.
fn prune_text(pruning: &PrunePlan) -> String {
    let mut text = String::new();
    if !pruning.going.is_empty() {
        text += &(run_lines(&pruning.going, terminal_width()).join("\n") + "\n\n");
    }
    text.extend(pruning.searches.iter().map(|search| {
        format!("search `{}`: {}, {}\n", search.folder, runs_of(search.runs), show_size(search.bytes))
    }));
    text.extend(pruning.spared.iter().map(|(name, why)| format!("stays: `{name}`: {why}\n")));
    let left = |name: &String| format!("left of an interrupted removal: `{}`\n", sanitize(name));
    text.extend(pruning.leftovers.iter().map(left));
    let stay = if pruning.staying + pruning.searches_staying == 1 { "stays" } else { "stay" };
    let staying = things(pruning.staying, pruning.searches_staying);
    text + &format!("{staying} {stay}, {}\n", show_size(pruning.staying_bytes))
}

/// Returns a text such as `3 runs` or `3 runs and 1 search`.
fn things(runs: u64, searches: u64) -> String {
    let searched =
        format!("{} {}", format_grouped(searches), if searches == 1 { "search" } else { "searches" });
    match (runs, searches) {
        (_, 0) => runs_of(runs),
        (0, _) => searched,
        _ => format!("{} and {searched}", runs_of(runs)),
    }
}

fn runs_of(count: u64) -> String {
    format!("{} {}", format_grouped(count), if count == 1 { "run" } else { "runs" })
}
