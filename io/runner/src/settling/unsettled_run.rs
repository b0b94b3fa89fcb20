//! [`UnsettledRun`]: the archive of a run that agents may keep intervals of.

use std::path::{Path, PathBuf};

use wavetank_fleet::wire::decode_record;
use wavetank_fleet::{JournalRecord, RunHistory};
use wavetank_record::ForeignEntryKind;
use wavetank_store::{ArchiveSettling, Listing, OpenedRun, RunsDir, SettleProblem, open};
use wavetank_units::{Code, UserError, sanitize};

/// The journal of a fleet's controller in an archive.
const JOURNAL: &str = "fleet.jsonl";
/// Longest journal that is read. A record has less than a kilobyte for each agent.
const JOURNAL_BYTES_MAX: u64 = 64 << 20;

/// The archive of a run that agents may keep intervals of.
pub(super) struct UnsettledRun {
    pub(super) opened: OpenedRun,
    /// Number of the run, which spools have.
    pub(super) number: u64,
    pub(super) history: RunHistory,
    /// The journal says that the archive was complete and durable.
    archived: bool,
}

impl UnsettledRun {
    /// Opens the run that `name` names.
    ///
    /// # Errors
    /// An unknown run, one without a fleet, a packed one, and one that a process writes to.
    pub(super) fn named(runs: &RunsDir, name: &str) -> Result<Self, UserError> {
        let found = runs.find(name)?;
        let shown = sanitize(&found.to_string_lossy()).into_owned();
        let opened = open(&found)?;
        if opened.is_packed() {
            return Err(cannot_settle(&shown, "it is a packed run", "unpack it: wavetank runs unpack FILE"));
        }
        let (number, history, archived) = journal(&found).ok_or_else(|| {
            let message = format!("`{shown}` is not a run of a fleet");
            UserError::usage(
                Code::NotAFleetRun,
                message,
                "name a run of `run --fleet`: wavetank runs lists them",
            )
        })?;
        Ok(Self { opened, number, history, archived })
    }

    /// Returns the runs in a directory that have one of these numbers, and those of its searches,
    /// each oldest first.
    ///
    /// # Errors
    /// If the directory or a run cannot be read.
    pub(super) fn with_numbers(runs: &RunsDir, numbers: &[u64]) -> Result<Vec<Self>, UserError> {
        let Listing { runs: mut entries, foreign } = runs.list()?;
        for search in foreign.iter().filter(|entry| entry.kind == ForeignEntryKind::Search) {
            let levels = RunsDir::new(runs.path().join(&search.name).join("runs"));
            entries.extend(levels.list()?.runs);
        }
        let mut found = Vec::new();
        for entry in entries {
            let Some((number, history, archived)) = journal(&entry.path) else { continue };
            if numbers.contains(&number) {
                found.push(Self { opened: open(&entry.path)?, number, history, archived });
            }
        }
        Ok(found)
    }

    /// The archive's folder, for messages.
    pub(super) fn shown(&self) -> String {
        self.opened.display_path()
    }

    /// Whether the archive has all intervals of all agents, so that nothing can be added.
    pub(super) fn is_settled(&self) -> bool {
        let has_ended = |name: &String| self.history.ended.contains_key(name);
        let all = self.history.agents.iter().all(|agent| has_ended(&agent.name));
        all && self.archived && self.opened.record.is_some()
    }

    /// Locks the archive.
    ///
    /// # Errors
    /// If a process writes to it.
    pub(super) fn lock(&self) -> Result<ArchiveSettling, UserError> {
        ArchiveSettling::open(&self.opened.dir).map_err(|problem| match problem {
            SettleProblem::InUse => {
                let hint = "wait for the end of the run, and settle it then";
                cannot_settle(&self.shown(), "a process writes to it", hint)
            }
            problem => cannot_settle(&self.shown(), &reason(&problem), "check the files of the archive"),
        })
    }
}

/// Returns why a spool cannot be merged, as a part of a sentence.
pub(super) fn reason(problem: &SettleProblem) -> String {
    match problem {
        SettleProblem::InUse => "a process writes to the archive".to_owned(),
        SettleProblem::Store(problem) => problem.to_string(),
        SettleProblem::Transfer(error) => format!("its spool was not read to the end: {error}"),
        SettleProblem::Differs(text) => format!("its spool is damaged: {text}"),
    }
}

pub(super) fn cannot_settle(run: &str, reason: &str, hint: &str) -> UserError {
    UserError::refused(Code::CannotSettle, format!("cannot settle `{run}`: {reason}"), hint)
}

/// Reads the journal in the archive at `dir`: the run's number, its course, and whether the archive
/// was durable. `None` if there is no journal of an owned run.
fn journal(dir: &Path) -> Option<(u64, RunHistory, bool)> {
    let path: PathBuf = dir.join(JOURNAL);
    let length = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)?.len();
    let bytes = (length <= JOURNAL_BYTES_MAX).then(|| std::fs::read(&path).ok()).flatten()?;
    // A last line without its newline was not written completely.
    let whole = bytes.iter().rposition(|&byte| byte == b'\n')?;
    let lines = bytes[..whole].split(|&byte| byte == b'\n');
    let records: Vec<JournalRecord> = lines.filter_map(|line| decode_record(line).ok()).collect();
    let number = records.iter().find_map(|record| match record {
        JournalRecord::Owned { run, .. } => Some(run.0),
        _ => None,
    })?;
    let archived = records.contains(&JournalRecord::Archived);
    Some((number, RunHistory::from_records(&records), archived))
}
