//! [`SearchEntry`]: one search in the runs directory, which stays or is removed as a whole.

use std::fs;
use std::path::{Path, PathBuf};

use wavetank_record::{ForeignEntryKind, WallTime};
use wavetank_units::{Code, sanitize};

use crate::contents::Contents;
use crate::file_access::{is_dir_locked, open_file};
use crate::folder_name::timestamp;
use crate::prune::{QUIET_NS, protected_reason, unreadable_reason, written};
use crate::search_folder::PARTIAL;
use crate::search_marker::{ANSWER, RUNS};
use crate::{RunEntry, RunsDir, SearchFolder};

/// Value of `answer.end` for a search that has not ended.
const UNDER_WAY: &str = "under_way";

/// One search in the runs directory, with all of its runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SearchEntry {
    pub(crate) path: PathBuf,
    /// Name of the folder; bytes that are not UTF-8 are replaced.
    pub(crate) folder: String,
    /// Start of the search, in the form of an archive's name.
    pub(crate) stamp: String,
    /// Number of runs in it.
    pub(crate) runs: u64,
    /// Bytes of all its files.
    pub(crate) bytes: u64,
}

impl SearchEntry {
    /// The search in the folder `path`.
    pub(crate) fn new(path: PathBuf) -> Self {
        let folder = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let stamp = timestamp(&folder).map_or_else(
            || WallTime(written(&path.join(ANSWER)).unwrap_or_default()).folder_stamp(),
            str::to_owned,
        );
        let mut entry = Self { path, folder, stamp, runs: 0, bytes: 0 };
        if !is_folder(&entry.path) || !is_folder(&entry.path.join(RUNS)) {
            // Linked folders are not counted.
            return entry;
        }
        let runs = entry.runs_in_it().unwrap_or_default();
        let answer = fs::symlink_metadata(entry.path.join(ANSWER)).map_or(0, |answer| answer.len());
        let archives = runs.iter().filter_map(|run| Contents::scan(&run.path).ok());
        entry.bytes = answer + archives.map(|contents| contents.bytes()).sum::<u64>();
        entry.runs = runs.len() as u64;
        entry
    }

    /// Whether it did not end with exit code 0. Killed and damaged searches count as failed.
    pub(crate) fn has_failed(&self) -> bool {
        match SearchFolder::open(&self.path).map(|folder| folder.read()) {
            Some(Ok(doc)) => doc.answer.exit != 0 || doc.answer.end == UNDER_WAY,
            Some(Err(error)) => error.code != Code::ArchiveNewer,
            None => true,
        }
    }

    /// Returns why the search must stay, whatever the options say, at the wall time `now`.
    pub(crate) fn protected_reason(&self, now: WallTime) -> Option<String> {
        if !is_folder(&self.path) {
            return Some("it is a link to a folder elsewhere".to_owned());
        }
        if is_dir_locked(&self.path) {
            return Some("it is being written".to_owned());
        }
        if let Some(foreign) = self.foreign() {
            return Some(format!("it holds `{}`, which is not one of a search's files", sanitize(&foreign)));
        }
        if let Some(why) = unreadable_reason(&self.path, &[ANSWER]) {
            return Some(why);
        }
        let runs = match self.runs_in_it() {
            Ok(runs) => runs,
            Err(why) => return Some(why),
        };
        // A run without files, left by a search that was killed at its start, is removed with it.
        let empty = |run: &&RunEntry| {
            Contents::scan(&run.path)
                .is_ok_and(|contents| contents.files.is_empty() && contents.odd.is_empty())
        };
        let filled: Vec<_> = runs.iter().filter(|run| !empty(run) || run.linked).collect();
        let why = |run: &&RunEntry| Some((run.folder.clone(), protected_reason(run, now)?));
        if let Some((run, why)) = filled.iter().copied().find_map(|run| why(&run)) {
            return Some(format!("its run `{}`: {why}", sanitize(&run)));
        }
        if filled.is_empty() && !self.answer_is_ours() {
            return Some("no file in it shows that it is a search".to_owned());
        }
        let ended = SearchFolder::open(&self.path).and_then(|folder| folder.read().ok());
        let ended = ended.is_some_and(|doc| doc.answer.end != UNDER_WAY);
        let latest = [self.path.clone(), self.path.join(ANSWER), self.path.join(RUNS)];
        let recent = |path: &PathBuf| written(path).is_some_and(|at| now.0.saturating_sub(at) < QUIET_NS);
        (!ended && latest.iter().any(recent))
            .then(|| "it has not ended, and was written to less than a minute ago".to_owned())
    }

    /// Returns its runs, or why they cannot be read.
    fn runs_in_it(&self) -> Result<Vec<RunEntry>, String> {
        Ok(RunsDir::new(self.path.join(RUNS)).list().map_err(|error| error.message)?.runs)
    }

    /// Returns an entry that does not belong to any search, so it was put there from outside.
    fn foreign(&self) -> Option<String> {
        let entries = fs::read_dir(&self.path).ok()?;
        for entry in entries.filter_map(Result::ok) {
            let name = entry.file_name();
            let Ok(kind) = entry.file_type() else { return Some(name.to_string_lossy().into_owned()) };
            let own = match name.to_str() {
                Some(ANSWER | PARTIAL) => kind.is_file(),
                Some(RUNS) => kind.is_dir(),
                _ => false,
            };
            if !own {
                return Some(name.to_string_lossy().into_owned());
            }
        }
        let entries = RunsDir::new(self.path.join(RUNS)).list().ok()?.foreign;
        let foreign = entries.into_iter().find(|entry| entry.kind != ForeignEntryKind::Removed)?;
        Some(format!("{RUNS}/{}", foreign.name))
    }

    /// Returns whether `search.json` was certainly written by wavetank. A file with only its name
    /// must not lead to a removal.
    fn answer_is_ours(&self) -> bool {
        use std::io::Read as _;
        let mut head = Vec::new();
        let answer = open_file(&self.path.join(ANSWER));
        answer.is_ok_and(|answer| answer.take(64).read_to_end(&mut head).is_ok())
            && head.starts_with(b"{\"schema\":\"wavetank.search/")
    }
}

/// Returns whether `path` is a folder, and not a link to one.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}
