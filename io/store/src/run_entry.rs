//! [`RunEntry`]: one archive in the runs directory, as its folder shows it from outside.

use std::fs::{self, File, TryLockError};
use std::io::Read;
use std::path::Path;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use wavetank_record::{EnvironmentDoc, WallTime};

use crate::opened_run::open_file;

/// `environment.json` is far smaller; a longer one is not read for its id.
const ENVIRONMENT_BYTES_MAX: u64 = 16 << 20;

/// One archive in the runs directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEntry {
    /// Its folder.
    pub path: PathBuf,
    /// The folder's name; what is no UTF-8 in it is replaced.
    pub folder: String,
    /// Id of the run, by the folder's name; empty if that has been changed to one without.
    pub id: String,
    /// Whether `run.json` is there.
    pub finished: bool,
    /// Whether it is only linked here and lies elsewhere.
    pub linked: bool,
    /// Whether anything of it can be opened.
    pub(crate) openable: bool,
    /// When it began, as in the folder's name.
    stamp: String,
    /// When its plan was written: tells runs of one second apart.
    written: SystemTime,
}

impl RunEntry {
    /// `None` if `path` is no archive's folder.
    pub(crate) fn new(path: &Path) -> Option<Self> {
        let folder = path.file_name()?.to_string_lossy().into_owned();
        let lies = |name: &str| fs::symlink_metadata(path.join(name)).is_ok();
        let (finished, planned) = (lies("run.json"), lies("plan.yaml"));
        let openable = finished || planned;
        let named = timestamp(&folder);
        // A process may have been stopped before the plan was written, and a folder may forbid to be looked into.
        let began = || lies("environment.json") || lies("intervals") || is_empty_or_closed(path);
        if fs::symlink_metadata(path.join("search.json")).is_ok() || !(openable || named.is_some() && began())
        {
            return None;
        }
        let written = fs::metadata(path.join("plan.yaml")).or_else(|_| fs::metadata(path));
        let written = written.and_then(|metadata| metadata.modified()).unwrap_or(UNIX_EPOCH);
        Some(Self {
            id: named.and_then(|_| folder.rsplit('-').next()).unwrap_or_default().to_owned(),
            stamp: named.map_or_else(|| told_stamp(path, written), str::to_owned),
            linked: fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()),
            path: path.to_owned(),
            folder,
            finished,
            openable,
            written,
        })
    }

    /// By this they are listed: when the run began, and what tells runs of one second apart.
    pub(crate) fn order(&self) -> impl Ord + '_ {
        (&self.stamp, self.written, &self.path)
    }

    /// When it began: `20261121T190000Z`.
    pub(crate) fn stamp(&self) -> &str {
        &self.stamp
    }

    /// The id that is stored in it, whatever its folder is called.
    pub(crate) fn stored_id(&self) -> Option<String> {
        environment(&self.path).map(|environment| environment.id).filter(|id| !id.is_empty())
    }
}

/// Whether a process writes to the archive at `dir` at this moment: its writer holds a lock on the plan, which ends with
/// the process however that ends. Where locks cannot be had, nobody is taken to write.
pub(crate) fn is_locked(dir: &Path) -> bool {
    let Ok(plan) = open_file(&dir.join("plan.yaml")) else { return false };
    // The lock that this takes goes with the file, at the end of this function.
    matches!(plan.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// The same of a search's folder, whose writer holds a lock on the folder itself.
pub(crate) fn is_dir_locked(dir: &Path) -> bool {
    // Where a folder cannot be opened, no search can be made either.
    File::open(dir).is_ok_and(|dir| matches!(dir.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// `environment.json` of the archive at `dir`, if it can be read.
pub(crate) fn environment(dir: &Path) -> Option<EnvironmentDoc> {
    let mut text = String::new();
    let file = open_file(&dir.join("environment.json")).ok()?;
    file.take(ENVIRONMENT_BYTES_MAX).read_to_string(&mut text).ok()?;
    EnvironmentDoc::from_json(&text).ok()
}

/// The time at the beginning of an archive's name: `20261121T190000Z` of `20261121T190000Z-shop-7f3a21`.
pub(crate) fn timestamp(folder: &str) -> Option<&str> {
    let (stamp, rest) = folder.split_at_checked(16)?;
    let kind = |(at, letter): (usize, u8)| match at {
        8 => letter == b'T',
        15 => letter == b'Z',
        _ => letter.is_ascii_digit(),
    };
    (rest.len() > 1 && rest.starts_with('-') && stamp.bytes().enumerate().all(kind)).then_some(stamp)
}

/// The same of a folder whose name tells none: as stored in it, or when it was written.
fn told_stamp(path: &Path, written: SystemTime) -> String {
    let told = environment(path).map(|environment| environment.started_at.replace(['-', ':'], ""));
    let by_plan = || {
        let since = written.duration_since(UNIX_EPOCH).unwrap_or_default();
        WallTime(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)).folder_stamp()
    };
    told.filter(|told| told.len() == 16).unwrap_or_else(by_plan)
}

fn is_empty_or_closed(path: &Path) -> bool {
    fs::read_dir(path).map_or_else(
        |error| error.kind() == std::io::ErrorKind::PermissionDenied,
        |mut entries| entries.next().is_none(),
    )
}
