//! [`PrunePlan`]: which runs and searches may be removed, and their removal.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use std::{fs, io};

use wavetank_record::{ForeignEntryKind, RunLine, RunState, Status, WallTime};
use wavetank_units::{Nanos, UserError, sanitize};

use crate::contents::{Contents, unreadable};
use crate::file_access::{is_locked, open_file, sync_dir};
use crate::run_entry::environment;
use crate::runs_dir::REMOVED_PREFIX;
use crate::search_entry::SearchEntry;
use crate::store_problem::os_error_text;
use crate::{RunEntry, RunsDir, summarize};

/// A run without `run.json` that was written to within this time may have a writer without a lock.
pub(crate) const QUIET_NS: u64 = 60 * 1_000_000_000;

/// Selects the runs to remove: those that match all of these. A search counts as one entry, with
/// its runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PruneOptions {
    /// Number of the newest runs and searches that stay.
    pub keep: Option<u64>,
    /// Only those that started longer ago than this.
    pub older_than: Option<Nanos>,
    /// Only those that did not pass; searches that did not end with exit code 0.
    pub failed: bool,
    /// Only the oldest, until everything left takes at most this many bytes.
    pub size_max: Option<u64>,
}

/// The entries to be removed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PrunePlan {
    /// Runs to be removed, oldest first.
    pub going: Vec<RunLine>,
    /// Searches to be removed with all of their runs, oldest first.
    pub searches: Vec<PrunedSearch>,
    /// Runs and searches that match but stay, each with the reason. Both texts are safe to print.
    pub spared: Vec<(String, String)>,
    /// Runs that stay, including the spared ones.
    pub staying: u64,
    /// Searches that stay, including the spared ones.
    pub searches_staying: u64,
    /// Bytes of everything that stays.
    pub staying_bytes: u64,
    /// Runs of an earlier, interrupted removal. They are removed as well.
    pub leftovers: Vec<String>,
    entries: Vec<PruneUnit>,
}

/// One search to be removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrunedSearch {
    /// Name of its folder, safe to print.
    pub folder: String,
    /// Runs in it.
    pub runs: u64,
    /// Bytes of all its files.
    pub bytes: u64,
}

/// An entry that stays or is removed as a whole.
#[derive(Clone, Debug, PartialEq)]
enum PruneUnit {
    Run(RunEntry, Box<RunLine>),
    Search(SearchEntry),
}

/// Result of a removal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Number of removed runs.
    pub runs: u64,
    /// Number of searches. Their runs are not counted in `runs`.
    pub searches: u64,
    /// Bytes of the removed entries.
    pub bytes: u64,
    /// Entries that were gone already, safe to print.
    pub gone: Vec<String>,
    /// Entries that could not be removed, and why. Both texts are safe to print.
    pub refused: Vec<(String, String)>,
}

impl RunsDir {
    /// Returns the runs and searches that `wishes` select, at the wall time `now`. Nothing is
    /// changed.
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
        for foreign in listing.foreign {
            match foreign.kind {
                ForeignEntryKind::Removed => pruning.leftovers.push(foreign.name),
                ForeignEntryKind::Search => {
                    found.push(PruneUnit::Search(SearchEntry::new(self.path().join(foreign.name))));
                }
                ForeignEntryKind::Net | ForeignEntryKind::Pack | ForeignEntryKind::Other => {}
            }
        }
        // The sort is stable: runs of the same second keep their order.
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

    /// Removes everything that `pruning` lists. Each run is renamed first, so that a partly removed
    /// one is never taken for a run. A failed removal is reported and does not keep the others from
    /// being removed.
    pub fn prune(&self, pruning: &PrunePlan, now: WallTime) -> Pruned {
        let mut pruned = Pruned::default();
        for name in &pruning.leftovers {
            if let Err(why) = remove_all(&self.path().join(name)) {
                pruned.refused.push((sanitize(name).into_owned(), os_error_text(&why)));
            }
        }
        for found in &pruning.entries {
            let aside = found.spared(now).map_or_else(|| self.set_aside(found.path()), Err);
            let removed = match aside {
                // Another command is removing the same entries.
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

    /// Renames the folder so that it is no longer taken for a run. Returns its new path.
    fn set_aside(&self, path: &Path) -> Result<PathBuf, String> {
        let mut aside = std::ffi::OsString::from(REMOVED_PREFIX);
        aside.push(path.file_name().unwrap_or_default());
        let mut place = self.path().join(&aside);
        if place.symlink_metadata().is_ok() {
            aside.push(format!("-{}", crate::new_id()));
            place = self.path().join(&aside);
        }
        fs::rename(path, &place).map_err(|error| os_error_text(&error))?;
        // If the folder cannot be synced, a crash may revert the rename. The entry is then a
        // complete run again.
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
    let (why, left) = (os_error_text(error), sanitize(&place.to_string_lossy()).into_owned());
    format!("it is only partly removed: {why}; the rest is in `{left}`")
}

impl PrunePlan {
    /// Subtracts `found` from the entries that stay.
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

    /// Name of its folder, safe to print.
    fn shown(&self) -> String {
        let (Self::Run(RunEntry { folder, .. }, _) | Self::Search(SearchEntry { folder, .. })) = self;
        sanitize(folder).into_owned()
    }

    /// Whether it no longer exists.
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

/// Returns why the run `entry` must stay, whatever the options say.
pub(crate) fn protected_reason(entry: &RunEntry, now: WallTime) -> Option<String> {
    let real = fs::symlink_metadata(&entry.path).is_ok_and(|metadata| metadata.is_dir());
    if entry.linked || !real {
        return Some("it is a link to a folder elsewhere".to_owned());
    }
    if is_locked(&entry.path) {
        return Some("it is being written".to_owned());
    }
    let contents = match Contents::scan(&entry.path) {
        Ok(contents) => contents,
        Err(error) => return Some(error.message),
    };
    if let Some(foreign) = contents.foreign().next() {
        return Some(format!("it holds `{}`, which is not one of the archive's files", sanitize(foreign)));
    }
    if let Some(why) = unreadable_reason(&entry.path, &["run.json", "plan.yaml"]) {
        return Some(why);
    }
    if !is_ours(&entry.path) {
        return Some("no file in it shows that it is an archive".to_owned());
    }
    let recent =
        |path: &str| written(&entry.path.join(path)).is_some_and(|at| now.0.saturating_sub(at) < QUIET_NS);
    if !entry.path.join("run.json").exists() && contents.files.iter().any(|file| recent(&file.path)) {
        return Some("it has no `run.json`, and was written to less than a minute ago".to_owned());
    }
    None
}

/// Returns why the files with these `names` in `dir` cannot be checked: one exists, but this user
/// may not read it. That is not damage, and a run that passed looks the same.
pub(crate) fn unreadable_reason(dir: &Path, names: &[&str]) -> Option<String> {
    let path = |name: &&str| dir.join(name);
    names.iter().map(path).find_map(|path| forbids(&path, &open_file(&path).err()?))
}

fn forbids(path: &Path, error: &io::Error) -> Option<String> {
    (error.kind() == io::ErrorKind::PermissionDenied).then(|| unreadable(path, error).message)
}

/// Returns whether one of its files was certainly written by wavetank. A folder that only looks
/// like an archive must not be removed.
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

/// Returns when a file was last written, in nanoseconds since 1970.
pub(crate) fn written(path: &Path) -> Option<u64> {
    let modified = fs::symlink_metadata(path).and_then(|metadata| metadata.modified()).ok()?;
    u64::try_from(modified.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test runs without files, since the user that runs it may be allowed to read everything.
    #[test]
    fn what_may_not_be_read_is_not_damaged() {
        let reported = |kind: io::ErrorKind| forbids(Path::new("a/run.json"), &kind.into());
        assert_eq!(
            reported(io::ErrorKind::PermissionDenied),
            Some("cannot read `a/run.json`: permission denied".to_owned())
        );
        for kind in [io::ErrorKind::NotFound, io::ErrorKind::InvalidData, io::ErrorKind::Other] {
            assert_eq!(reported(kind), None);
        }
    }
}
