//! [`Pruning`]: which runs may go, and how they go.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use wavetank_plan::{Nanos, UserError, harmless};
use wavetank_record::{BesideKind, RunLine, RunState, Status, Wall};

use crate::archive_writer::sync_dir;
use crate::contents::Contents;
use crate::run_entry::{environment, is_locked, open_file};
use crate::runs_dir::REMOVED_PREFIX;
use crate::store_problem::plain;
use crate::{RunEntry, RunsDir, survey};

/// A run without `run.json` that was written to within this time may have a writer that holds no lock.
const QUIET_NS: u64 = 60 * 1_000_000_000;

/// Which runs are to go: those that all of these agree on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PruneWishes {
    /// So many of the newest stay.
    pub keep: Option<u64>,
    /// Only what began longer ago than this.
    pub older_than: Option<Nanos>,
    /// Only what did not pass.
    pub failed: bool,
    /// Only so many of the oldest that all that is left takes no more bytes than this.
    pub size_max: Option<u64>,
}

/// What would go.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pruning {
    /// Runs that go, oldest first.
    pub going: Vec<RunLine>,
    /// Runs that would go, were there not the reason beside them. Both as they can be printed.
    pub spared: Vec<(String, String)>,
    /// Runs that stay, the spared ones among them.
    pub staying: u64,
    /// Their bytes.
    pub staying_bytes: u64,
    /// Runs of an earlier, interrupted removal; they go too.
    pub leftovers: Vec<String>,
    entries: Vec<RunEntry>,
}

/// What went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// How many runs.
    pub runs: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What could not be removed, and why. Both as they can be printed.
    pub refused: Vec<(String, String)>,
}

impl RunsDir {
    /// Which runs `wishes` are about, at the wall time `now`. Nothing is changed.
    ///
    /// # Errors
    /// A usage error if the directory cannot be read.
    pub fn prunable(&self, wishes: PruneWishes, now: Wall) -> Result<Pruning, UserError> {
        let listing = self.list()?;
        let lines: Vec<RunLine> = listing.runs.iter().map(survey).collect();
        let removed = listing.beside.into_iter().filter(|beside| beside.kind == BesideKind::Removed);
        let mut pruning =
            Pruning { leftovers: removed.map(|beside| beside.name).collect(), ..Pruning::default() };
        pruning.staying_bytes = lines.iter().map(|line| line.bytes).sum();
        pruning.staying = lines.len() as u64;
        let kept = wishes.keep.map_or(0, |keep| usize::try_from(keep).unwrap_or(usize::MAX));
        let before = wishes.older_than.map(|age| Wall(now.0.saturating_sub(age.0.unsigned_abs())).compact());
        let candidates = lines.len().saturating_sub(kept);
        for (entry, line) in listing.runs.into_iter().zip(lines).take(candidates) {
            let old = before.as_deref().is_none_or(|before| entry.stamp() < before);
            let large = wishes.size_max.is_none_or(|most| pruning.staying_bytes > most);
            if !(old && large && (!wishes.failed || has_failed(&line))) {
                continue;
            }
            if let Some(why) = spared(&entry, now) {
                pruning.spared.push((harmless(&entry.folder).into_owned(), why));
                continue;
            }
            pruning.staying -= 1;
            pruning.staying_bytes -= line.bytes;
            pruning.going.push(line);
            pruning.entries.push(entry);
        }
        Ok(pruning)
    }

    /// Remove what `pruning` found. Each run is first renamed, so that one half removed is never taken for a run; what
    /// could not be removed is told, and does not keep the others.
    pub fn prune(&self, pruning: &Pruning, now: Wall) -> Pruned {
        let mut pruned = Pruned::default();
        for name in &pruning.leftovers {
            if let Err(why) = fs::remove_dir_all(self.path().join(name)) {
                pruned.refused.push((harmless(name).into_owned(), plain(&why)));
            }
        }
        for (entry, line) in pruning.entries.iter().zip(&pruning.going) {
            match spared(entry, now).map_or_else(|| self.remove(&entry.path), Err) {
                Ok(()) => {
                    pruned.runs += 1;
                    pruned.bytes += line.bytes;
                }
                Err(why) => pruned.refused.push((harmless(&entry.folder).into_owned(), why)),
            }
        }
        pruned
    }

    fn remove(&self, path: &Path) -> Result<(), String> {
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
        fs::remove_dir_all(&place).map_err(|error| {
            format!(
                "it is only half removed: {}; what is left is `{}`",
                plain(&error),
                harmless(&place.to_string_lossy())
            )
        })
    }
}

fn has_failed(line: &RunLine) -> bool {
    match line.state {
        RunState::Finished => line.verdict != Some(Status::Pass),
        RunState::Unfinished | RunState::Damaged => true,
        RunState::Running | RunState::Newer => false,
    }
}

/// Why `entry` stays, whatever is wished.
fn spared(entry: &RunEntry, now: Wall) -> Option<String> {
    let real = fs::symlink_metadata(&entry.path).is_ok_and(|metadata| metadata.is_dir());
    if entry.linked || !real {
        return Some("it is only linked here, and lies elsewhere".to_owned());
    }
    if is_locked(&entry.path) {
        return Some("it is being written".to_owned());
    }
    let contents = match Contents::of(&entry.path) {
        Ok(contents) => contents,
        Err(error) => return Some(error.message),
    };
    if let Some(foreign) = contents.foreign().next() {
        return Some(format!("it holds `{}`, which is none of the archive's files", harmless(foreign)));
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

/// Whether one of its files is certainly ours: removing is not for what only looks like an archive.
fn is_ours(dir: &Path) -> bool {
    use std::io::Read as _;
    let mut head = Vec::new();
    let plan = open_file(&dir.join("plan.yaml"));
    let read = plan.and_then(|plan| plan.take(64).read_to_end(&mut head).ok());
    let record = || {
        open_file(&dir.join("run.json")).and_then(|file| {
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
fn written(path: &Path) -> Option<u64> {
    let modified = fs::symlink_metadata(path).and_then(|metadata| metadata.modified()).ok()?;
    u64::try_from(modified.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()
}
