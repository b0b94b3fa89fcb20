//! [`SearchEntry`]: one search in the runs directory, as a thing that stays or goes whole.

use std::fs;
use std::path::{Path, PathBuf};

use wavetank_plan::sanitize;
use wavetank_record::{ForeignEntryKind, WallTime};

use crate::contents::Contents;
use crate::opened_run::open_file;
use crate::prune::{QUIET_NS, protected_reason, unreadable_reason, written};
use crate::run_entry::{is_dir_locked, timestamp};
use crate::search_folder::{ANSWER, PARTIAL, RUNS};
use crate::{RunEntry, RunsDir, SearchFolder};

/// How `answer.end` of a search is called that has not ended.
const UNDER_WAY: &str = "under_way";

/// One search in the runs directory, with all of its runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SearchEntry {
    pub(crate) path: PathBuf,
    /// The folder's name; what is no UTF-8 in it is replaced.
    pub(crate) folder: String,
    /// When it began, as in an archive's name.
    pub(crate) stamp: String,
    /// Runs in it.
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
            // Of what is linked from elsewhere nothing is counted.
            return entry;
        }
        let runs = entry.runs_in_it().unwrap_or_default();
        let answer = fs::symlink_metadata(entry.path.join(ANSWER)).map_or(0, |answer| answer.len());
        let archives = runs.iter().filter_map(|run| Contents::scan(&run.path).ok());
        entry.bytes = answer + archives.map(|contents| contents.bytes()).sum::<u64>();
        entry.runs = runs.len() as u64;
        entry
    }

    /// It did not end with exit code 0: killed and damaged ones, too.
    pub(crate) fn has_failed(&self) -> bool {
        match SearchFolder::open(&self.path).map(|folder| folder.read()) {
            Some(Ok(doc)) => doc.answer.exit != 0 || doc.answer.end == UNDER_WAY,
            Some(Err(error)) => error.code != "archive_newer",
            None => true,
        }
    }

    /// Why it stays, whatever is wished, at the wall time `now`.
    pub(crate) fn protected_reason(&self, now: WallTime) -> Option<String> {
        if !is_folder(&self.path) {
            return Some("it is only linked here, and lies elsewhere".to_owned());
        }
        if is_dir_locked(&self.path) {
            return Some("it is being written".to_owned());
        }
        if let Some(foreign) = self.foreign() {
            return Some(format!("it holds `{}`, which is none of a search's files", sanitize(&foreign)));
        }
        if let Some(why) = unreadable_reason(&self.path, &[ANSWER]) {
            return Some(why);
        }
        let runs = match self.runs_in_it() {
            Ok(runs) => runs,
            Err(why) => return Some(why),
        };
        // One that a search was killed in before anything was written is lost with it.
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
            return Some("nothing in it says that it is a search".to_owned());
        }
        let ended = SearchFolder::open(&self.path).and_then(|folder| folder.read().ok());
        let ended = ended.is_some_and(|doc| doc.answer.end != UNDER_WAY);
        let latest = [self.path.clone(), self.path.join(ANSWER), self.path.join(RUNS)];
        let recent = |path: &PathBuf| written(path).is_some_and(|at| now.0.saturating_sub(at) < QUIET_NS);
        (!ended && latest.iter().any(recent))
            .then(|| "it has not ended, and was written to less than a minute ago".to_owned())
    }

    /// Its runs, or what is in the way of reading them.
    fn runs_in_it(&self) -> Result<Vec<RunEntry>, String> {
        Ok(RunsDir::new(self.path.join(RUNS)).list().map_err(|error| error.message)?.runs)
    }

    /// What no search has: somebody put it there.
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
        let beside = RunsDir::new(self.path.join(RUNS)).list().ok()?.beside;
        let foreign = beside.into_iter().find(|beside| beside.kind != ForeignEntryKind::Removed)?;
        Some(format!("{RUNS}/{}", foreign.name))
    }

    /// Whether `search.json` is certainly ours: removing is not for what is only called like it.
    fn answer_is_ours(&self) -> bool {
        use std::io::Read as _;
        let mut head = Vec::new();
        let answer = open_file(&self.path.join(ANSWER));
        answer.is_ok_and(|answer| answer.take(64).read_to_end(&mut head).is_ok())
            && head.starts_with(b"{\"schema\":\"wavetank.search/")
    }
}

/// Whether `path` is a folder itself, and no link to one.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}
