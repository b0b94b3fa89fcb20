//! [`summarize`] and [`inspect`]: the summary of an archive on one line, and its full description.

use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;

use wavetank_record::{ARCHIVE_SCHEMA, ArchiveDoc, EnvironmentDoc, PlanDoc, RunLine, RunRecord, RunState};
use wavetank_units::{UserError, sanitize};

use crate::archive_error::not_an_archive;
use crate::contents::Contents;
use crate::file_access::{TEXT_BYTES_MAX, is_locked, open_file};
use crate::folder_name::timestamp;
use crate::run_entry::environment;
use crate::{ArchiveGaps, OpenedRun, RunEntry, Unpacked, answered};

/// Returns the summary of the archive of `entry`. Damage is noted in the summary and is not an
/// error: one damaged run must not hide the others.
pub fn summarize(entry: &RunEntry) -> RunLine {
    look(&entry.path, &entry.folder).line
}

/// Returns everything about the archive at `path`, a folder or a packed run, except the contents of
/// its intervals. Missing or damaged files and intervals are listed in the result, since finding
/// them is the purpose.
///
/// # Errors
/// A usage error if it cannot be read at all or is not an archive.
pub fn inspect(path: &Path) -> Result<ArchiveDoc, UserError> {
    let unpacked = path.is_file().then(|| Unpacked::new(path)).transpose()?;
    let dir = unpacked.as_ref().map_or(path, Unpacked::dir);
    let shown = sanitize(&path.to_string_lossy()).into_owned();
    let name = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let folder = unpacked.as_ref().map_or(name, |unpacked| unpacked.folder().to_owned());
    let contents = Contents::scan(dir)?;
    if !["run.json", "plan.yaml"].iter().any(|name| dir.join(name).symlink_metadata().is_ok()) {
        return Err(not_an_archive(path));
    }
    let Look { line, record, environment, plan } = look(dir, &folder);
    let plan_yaml = text(dir, "plan.yaml").ok().flatten();
    let plan_hash = plan_yaml.as_deref().map(PlanDoc::hash).unwrap_or_default();
    let command = match (&record, &environment) {
        (Some(record), _) => record.command.clone(),
        (None, Some(environment)) => environment.command.clone(),
        (None, None) => String::new(),
    };
    let seed = record.as_ref().map(|record| record.seed).or_else(|| plan.as_ref().map(PlanDoc::seed));
    let plan_fits = record.as_ref().map(|record| record.plan_hash == plan_hash);
    let mut problems = Vec::new();
    problems.extend(line.problem.clone());
    match plan_fits {
        Some(false) if plan_hash.is_empty() => problems.push("`plan.yaml` is missing".to_owned()),
        Some(false) => {
            problems.push("`plan.yaml` is not the plan that was run: its SHA-256 is different".to_owned());
        }
        _ => {}
    }
    if environment.is_none() {
        problems.push("`environment.json` is missing or cannot be read".to_owned());
    }
    let plan_yaml = plan_yaml.filter(|_| plan_fits != Some(false)).unwrap_or_default();
    problems.extend(gaps(dir, plan_yaml, record.as_ref()));
    problems.extend(contents.foreign().map(|path| format!("`{path}` is not one of the archive's files")));
    Ok(ArchiveDoc {
        schema: ARCHIVE_SCHEMA.to_owned(),
        path: shown,
        packed: unpacked.is_some(),
        headline: record.as_ref().map(|record| record.verdict.headline.to_string()).unwrap_or_default(),
        repeat: seed.map(|seed| repeat(&command, seed)).unwrap_or_default(),
        command,
        seed,
        plan_hash,
        plan_fits,
        version: environment.as_ref().map(|environment| environment.version.clone()).unwrap_or_default(),
        engine: environment.as_ref().map(|environment| environment.engine.clone()).unwrap_or_default(),
        host: environment.map(|environment| environment.host),
        notes: record.into_iter().flat_map(|record| record.notes).map(String::from).collect(),
        files: contents.files,
        problems,
        run: line,
    })
}

/// Returns one sentence for each gap in the intervals of the archive at `dir`. The expected number
/// of requests is known only if `plan_yaml` shows which phases are judged.
fn gaps(dir: &Path, plan_yaml: String, record: Option<&RunRecord>) -> Vec<String> {
    let plan = PlanDoc::from_yaml(&plan_yaml).and_then(|doc| doc.plan()).ok();
    let opened = OpenedRun {
        dir: dir.to_owned(),
        record: None,
        plan_yaml,
        environment: None,
        events: Vec::new(),
        samples: Vec::new(),
        pack: None,
    };
    let mut in_intervals = 0;
    let read = opened.read_windows(|_, interval| {
        in_intervals += plan.as_ref().map_or(0, |plan| answered(plan, interval));
        ControlFlow::Continue(())
    });
    match read {
        Ok(read) => {
            let gaps = ArchiveGaps { dir: "intervals".to_owned(), read, in_intervals };
            gaps.sentences(record.filter(|_| plan.is_some()))
        }
        Err(error) => vec![error.message],
    }
}

/// Returns `command` with `--seed` and the drawn seed, unless it has a seed already.
fn repeat(command: &str, seed: u64) -> String {
    let says = command.split_whitespace().any(|word| word == "--seed" || word.starts_with("--seed="));
    match command {
        "" => String::new(),
        command if says => command.to_owned(),
        command => format!("{command} --seed {seed}"),
    }
}

struct Look {
    line: RunLine,
    record: Option<RunRecord>,
    environment: Option<EnvironmentDoc>,
    plan: Option<PlanDoc>,
}

fn look(dir: &Path, folder: &str) -> Look {
    let environment = environment(dir);
    let mut line = RunLine { folder: folder.to_owned(), ..RunLine::default() };
    match timestamp(folder) {
        Some(stamp) => {
            name_in(folder, stamp).clone_into(&mut line.name);
            line.started_at = started(stamp);
            folder.rsplit('-').next().unwrap_or_default().clone_into(&mut line.id);
        }
        None => folder.clone_into(&mut line.name),
    }
    if let Some(environment) = &environment {
        line.id.clone_from(&environment.id);
        line.started_at.clone_from(&environment.started_at);
        environment.load.text.as_str().clone_into(&mut line.load);
    }
    let mut record = None;
    let mut plan = None;
    match text(dir, "run.json").map(|text| text.map(|text| RunRecord::from_json(&text)).transpose()) {
        Err(why) => line.problem = Some(why),
        Ok(Err(error)) => {
            line.state = if error.is_newer() { RunState::Newer } else { RunState::Damaged };
            line.problem = Some(format!("`run.json` cannot be read: {error}"));
        }
        Ok(Ok(Some(read))) => {
            line.fill_from(&read);
            line.state = RunState::Finished;
            record = Some(read);
        }
        Ok(Ok(None)) => plan = without_record(dir, &mut line),
    }
    match Contents::scan(dir) {
        Ok(contents) => line.bytes = contents.bytes(),
        Err(error) => line.problem = Some(error.message),
    }
    Look { line, record, environment, plan }
}

/// Fills in the state of an archive without `run.json`. Returns its plan.
fn without_record(dir: &Path, line: &mut RunLine) -> Option<PlanDoc> {
    if is_locked(dir) {
        line.state = RunState::Running;
    }
    let plan = match text(dir, "plan.yaml") {
        Ok(Some(text)) => PlanDoc::from_yaml(&text).map_err(|error| {
            (error.is_newer(), format!("`plan.yaml` cannot be read, and there is no `run.json`: {error}"))
        }),
        Ok(None) => Err((false, "it has no `run.json` and no `plan.yaml`".to_owned())),
        Err(why) => Err((false, why)),
    };
    match plan {
        Ok(plan) => {
            plan.name().clone_into(&mut line.name);
            line.tags.clone_from(plan.tags());
            if line.state != RunState::Running {
                line.state = RunState::Unfinished;
            }
            Some(plan)
        }
        Err(_) if line.state == RunState::Running => None,
        Err((newer, why)) => {
            line.state = if newer { RunState::Newer } else { RunState::Damaged };
            line.problem = Some(why);
            None
        }
    }
}

/// Returns the text of a small file; `None` if there is no such file.
fn text(dir: &Path, name: &str) -> Result<Option<String>, String> {
    let path = dir.join(name);
    if let Err(error) = std::fs::symlink_metadata(&path) {
        let gone = error.kind() == std::io::ErrorKind::NotFound;
        return if gone {
            Ok(None)
        } else {
            Err(format!("`{name}`: {}", crate::store_problem::os_error_text(&error)))
        };
    }
    let file = open_file(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => {
            format!("`{name}`: {}", crate::store_problem::os_error_text(&error))
        }
        _ => format!("`{name}` is not a readable file"),
    })?;
    let mut bytes = Vec::new();
    file.take(TEXT_BYTES_MAX)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("`{name}`: {}", crate::store_problem::os_error_text(&error)))?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Returns the name: `shop` of `20261121T190000Z-shop-7f3a21`.
fn name_in<'a>(folder: &'a str, stamp: &str) -> &'a str {
    let rest = folder[stamp.len()..].trim_start_matches('-');
    rest.rsplit_once('-').map_or(rest, |(name, _)| name)
}

/// Returns the start in ISO format: `2026-11-21T19:00:00Z` of `20261121T190000Z`.
fn started(stamp: &str) -> String {
    let part = |from: usize, to: usize| &stamp[from..to];
    let (year, month, day) = (part(0, 4), part(4, 6), part(6, 8));
    format!("{year}-{month}-{day}T{}:{}:{}Z", part(9, 11), part(11, 13), part(13, 15))
}
