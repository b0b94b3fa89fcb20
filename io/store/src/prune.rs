//! [`PrunePlan`]: which runs and searches may go, and how they go.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use wavetank_plan::{Nanos, UserError, sanitize};
use wavetank_record::{ForeignEntryKind, RunLine, RunState, Status, WallTime};

use crate::archive_writer::sync_dir;
use crate::contents::{Contents, unreadable};
use crate::opened_run::open_file;
use crate::run_entry::{environment, is_locked};
use crate::runs_dir::REMOVED_PREFIX;
use crate::search_entry::SearchEntry;
use crate::store_problem::plain;
use crate::{RunEntry, RunsDir, summarize};

/// A run without `run.json` that was written to within this time may have a writer that holds no lock.
pub(crate) const QUIET_NS: u64 = 60 * 1_000_000_000;

/// Which runs are to go: those that all of these agree on. A search, with its runs, is one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PruneOptions {
    /// So many of the newest stay.
    pub keep: Option<u64>,
    /// Only what began longer ago than this.
    pub older_than: Option<Nanos>,
    /// Only what did not pass; searches that did not end with exit code 0.
    pub failed: bool,
    /// Only so many of the oldest that all that is left takes no more bytes than this.
    pub size_max: Option<u64>,
}

/// What would go.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PrunePlan {
    /// Runs that go, oldest first.
    pub going: Vec<RunLine>,
    /// Searches that go, with all of their runs, oldest first.
    pub searches: Vec<PrunedSearch>,
    /// Runs and searches that would go, were there not the reason beside them. Both as they can be printed.
    pub spared: Vec<(String, String)>,
    /// Runs that stay, the spared ones among them.
    pub staying: u64,
    /// Searches that stay, the spared ones among them.
    pub searches_staying: u64,
    /// The bytes of all that stays.
    pub staying_bytes: u64,
    /// Runs of an earlier, interrupted removal; they go too.
    pub leftovers: Vec<String>,
    entries: Vec<PruneUnit>,
}

/// One search that goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrunedSearch {
    /// Its folder's name, as it can be printed.
    pub folder: String,
    /// Runs in it.
    pub runs: u64,
    /// Bytes of all its files.
    pub bytes: u64,
}

/// What stays or goes as one thing.
#[derive(Clone, Debug, PartialEq)]
enum PruneUnit {
    Run(RunEntry, Box<RunLine>),
    Search(SearchEntry),
}

/// What went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// How many runs.
    pub runs: u64,
    /// How many searches, whose runs are not counted among the others.
    pub searches: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What was gone already, as it can be printed.
    pub gone: Vec<String>,
    /// What could not be removed, and why. Both as they can be printed.
    pub refused: Vec<(String, String)>,
}

impl RunsDir {
    /// Which runs `wishes` are about, at the wall time `now`. Nothing is changed.
    ///
    /// # Errors
    /// A usage error if the directory cannot be read.
    pub fn prunable(&self, wishes: PruneOptions, now: WallTime) -> Result<PrunePlan, UserError> {
        let listing = self.list()?;
        let mut found: Vec<PruneUnit> = Vec::new();
        found.extend(listing.runs.into_iter().map(|entry| {
            let line = summarize(&entry);
            PruneUnit::Run(entry, Box::new(line))
        }));
        let mut pruning = PrunePlan::default();
        for beside in listing.beside {
            match beside.kind {
                ForeignEntryKind::Removed => pruning.leftovers.push(beside.name),
                ForeignEntryKind::Search => {
                    found.push(PruneUnit::Search(SearchEntry::new(self.path().join(beside.name))));
                }
                ForeignEntryKind::Pack | ForeignEntryKind::Other => {}
            }
        }
        // Runs are in order already, also those of one second.
        found.sort_by(|a, b| a.stamp().cmp(b.stamp()));
        pruning.staying_bytes = found.iter().map(PruneUnit::bytes).sum();
        pruning.staying = found.iter().filter(|found| matches!(found, PruneUnit::Run(..))).count() as u64;
        pruning.searches_staying = found.len() as u64 - pruning.staying;
        let kept = wishes.keep.map_or(0, |keep| usize::try_from(keep).unwrap_or(usize::MAX));
        let before =
            wishes.older_than.map(|age| WallTime(now.0.saturating_sub(age.0.unsigned_abs())).folder_stamp());
        let candidates = found.len().saturating_sub(kept);
        for found in found.into_iter().take(candidates) {
            let old = before.as_deref().is_none_or(|before| found.stamp() < before);
            let large = wishes.size_max.is_none_or(|most| pruning.staying_bytes > most);
            if !(old && large && (!wishes.failed || found.has_failed())) {
                continue;
            }
            match found.spared(now) {
                None => pruning.let_go(found),
                Some(_) if found.is_gone() => pruning.forget(&found),
                Some(why) => pruning.spared.push((found.shown(), why)),
            }
        }
        Ok(pruning)
    }

    /// Remove what `pruning` found. Each run is first renamed, so that one half removed is never taken for a run; what
    /// could not be removed is told, and does not keep the others.
    pub fn prune(&self, pruning: &PrunePlan, now: WallTime) -> Pruned {
        let mut pruned = Pruned::default();
        for name in &pruning.leftovers {
            if let Err(why) = remove_all(&self.path().join(name)) {
                pruned.refused.push((sanitize(name).into_owned(), plain(&why)));
            }
        }
        for found in &pruning.entries {
            let aside = found.spared(now).map_or_else(|| self.set_aside(found.path()), Err);
            let removed = match aside {
                // Another command removes at the same time.
                Err(_) if found.is_gone() => {
                    pruned.gone.push(found.shown());
                    continue;
                }
                aside => {
                    aside.and_then(|place| remove_all(&place).map_err(|error| half_removed(&place, &error)))
                }
            };
            match removed {
                Ok(()) => {
                    match found {
                        PruneUnit::Run(..) => pruned.runs += 1,
                        PruneUnit::Search(_) => pruned.searches += 1,
                    }
                    pruned.bytes += found.bytes();
                }
                Err(why) => pruned.refused.push((found.shown(), why)),
            }
        }
        pruned
    }

    /// Gives it a name by which nobody takes it for a run. Hands back where it is then.
    fn set_aside(&self, path: &Path) -> Result<PathBuf, String> {
        let mut aside = std::ffi::OsString::from(REMOVED_PREFIX);
        aside.push(path.file_name().unwrap_or_default());
        let mut place = self.path().join(&aside);
        if place.symlink_metadata().is_ok() {
            aside.push(format!("-{}", crate::new_id()));
            place = self.path().join(&aside);
        }
        fs::rename(path, &place).map_err(|error| plain(&error))?;
        // Where a folder cannot be synced, the rename may come back with the folder: then it is a run again, and whole.
        let _ = sync_dir(self.path());
        Ok(place)
    }
}

/// Removes a folder that another command may be removing as well.
fn remove_all(place: &Path) -> io::Result<()> {
    match fs::remove_dir_all(place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn half_removed(place: &Path, error: &io::Error) -> String {
    let (why, left) = (plain(error), sanitize(&place.to_string_lossy()).into_owned());
    format!("it is only half removed: {why}; what is left is `{left}`")
}

impl PrunePlan {
    /// It does not stay.
    const fn forget(&mut self, found: &PruneUnit) {
        self.staying_bytes -= found.bytes();
        match found {
            PruneUnit::Run(..) => self.staying -= 1,
            PruneUnit::Search(_) => self.searches_staying -= 1,
        }
    }

    fn let_go(&mut self, found: PruneUnit) {
        self.forget(&found);
        match &found {
            PruneUnit::Run(_, line) => self.going.push((**line).clone()),
            PruneUnit::Search(search) => {
                let folder = found.shown();
                self.searches.push(PrunedSearch { folder, runs: search.runs, bytes: search.bytes });
            }
        }
        self.entries.push(found);
    }
}

impl PruneUnit {
    fn stamp(&self) -> &str {
        match self {
            Self::Run(entry, _) => entry.stamp(),
            Self::Search(search) => &search.stamp,
        }
    }

    const fn bytes(&self) -> u64 {
        match self {
            Self::Run(_, line) => line.bytes,
            Self::Search(search) => search.bytes,
        }
    }

    const fn path(&self) -> &PathBuf {
        match self {
            Self::Run(entry, _) => &entry.path,
            Self::Search(search) => &search.path,
        }
    }

    /// Its folder's name, as it can be printed.
    fn shown(&self) -> String {
        let (Self::Run(RunEntry { folder, .. }, _) | Self::Search(SearchEntry { folder, .. })) = self;
        sanitize(folder).into_owned()
    }

    /// It is not there any more.
    fn is_gone(&self) -> bool {
        fs::symlink_metadata(self.path()).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    fn has_failed(&self) -> bool {
        match self {
            Self::Run(_, line) => has_failed(line),
            Self::Search(search) => search.has_failed(),
        }
    }

    fn spared(&self, now: WallTime) -> Option<String> {
        match self {
            Self::Run(entry, _) => protected_reason(entry, now),
            Self::Search(search) => search.protected_reason(now),
        }
    }
}

fn has_failed(line: &RunLine) -> bool {
    match line.state {
        RunState::Finished => line.verdict != Some(Status::Pass),
        RunState::Unfinished | RunState::Damaged => true,
        RunState::Running | RunState::Newer => false,
    }
}

/// Why the run `entry` stays, whatever is wished.
pub(crate) fn protected_reason(entry: &RunEntry, now: WallTime) -> Option<String> {
    let real = fs::symlink_metadata(&entry.path).is_ok_and(|metadata| metadata.is_dir());
    if entry.linked || !real {
        return Some("it is only linked here, and lies elsewhere".to_owned());
    }
    if is_locked(&entry.path) {
        return Some("it is being written".to_owned());
    }
    let contents = match Contents::scan(&entry.path) {
        Ok(contents) => contents,
        Err(error) => return Some(error.message),
    };
    if let Some(foreign) = contents.foreign().next() {
        return Some(format!("it holds `{}`, which is none of the archive's files", sanitize(foreign)));
    }
    if let Some(why) = unreadable_reason(&entry.path, &["run.json", "plan.yaml"]) {
        return Some(why);
    }
    if !is_ours(&entry.path) {
        return Some("nothing in it says that it is an archive".to_owned());
    }
    let recent =
        |path: &str| written(&entry.path.join(path)).is_some_and(|at| now.0.saturating_sub(at) < QUIET_NS);
    if !entry.path.join("run.json").exists() && contents.files.iter().any(|file| recent(&file.path)) {
        return Some("it has no `run.json`, and was written to less than a minute ago".to_owned());
    }
    None
}

/// Why nobody knows what the files of these `names` in `dir` say: whoever asks may not read one that is there. That is no
/// damage, and a run that passed looks the same.
pub(crate) fn unreadable_reason(dir: &Path, names: &[&str]) -> Option<String> {
    let path = |name: &&str| dir.join(name);
    names.iter().map(path).find_map(|path| forbids(&path, &open_file(&path).err()?))
}

fn forbids(path: &Path, error: &io::Error) -> Option<String> {
    (error.kind() == io::ErrorKind::PermissionDenied).then(|| unreadable(path, error).message)
}

/// Whether one of its files is certainly ours: removing is not for what only looks like an archive.
fn is_ours(dir: &Path) -> bool {
    use std::io::Read as _;
    let mut head = Vec::new();
    let plan = open_file(&dir.join("plan.yaml"));
    let read = plan.ok().and_then(|plan| plan.take(64).read_to_end(&mut head).ok());
    let record = || {
        open_file(&dir.join("run.json")).ok().and_then(|file| {
            let mut head = Vec::new();
            file.take(64).read_to_end(&mut head).ok()?;
            Some(head.starts_with(b"{\"schema\":\"wavetank.run/"))
        })
    };
    read.is_some() && head.starts_with(b"wavetank_plan:")
        || environment(dir).is_some()
        || record().unwrap_or_default()
}

/// When a file was last written, in nanoseconds since 1970.
pub(crate) fn written(path: &Path) -> Option<u64> {
    let modified = fs::symlink_metadata(path).and_then(|metadata| metadata.modified()).ok()?;
    u64::try_from(modified.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever runs the tests may read everything, maybe.
    #[test]
    fn what_may_not_be_read_is_not_damaged() {
        let told = |kind: io::ErrorKind| forbids(Path::new("a/run.json"), &kind.into());
        assert_eq!(
            told(io::ErrorKind::PermissionDenied),
            Some("cannot read `a/run.json`: permission denied".to_owned())
        );
        for kind in [io::ErrorKind::NotFound, io::ErrorKind::InvalidData, io::ErrorKind::Other] {
            assert_eq!(told(kind), None);
        }
    }
}
