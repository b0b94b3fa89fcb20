//! [`RunEntry`]: one archive in the runs directory, as far as its folder shows it.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use wavetank_record::{EnvironmentDoc, WallTime};

use crate::file_access::open_file;
use crate::folder_name::timestamp;

/// `environment.json` is far smaller; a longer one is not read for its id.
const ENVIRONMENT_BYTES_MAX: u64 = 16 << 20;

/// One archive in the runs directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEntry {
    /// Its folder.
    pub path: PathBuf,
    /// Name of the folder; bytes that are not UTF-8 are replaced.
    pub folder: String,
    /// Id of the run, from the folder's name; empty if a renamed folder has none.
    pub id: String,
    /// Whether `run.json` is there.
    pub finished: bool,
    /// Whether it is a link to a folder elsewhere.
    pub linked: bool,
    /// Whether anything of it can be opened.
    pub(crate) openable: bool,
    /// Start of the run, in the form of the folder's name.
    stamp: String,
    /// When its plan was written. Orders runs that started in the same second.
    written: SystemTime,
}

impl RunEntry {
    /// Returns `None` if `path` is not the folder of an archive.
    pub(crate) fn new(path: &Path) -> Option<Self> {
        let folder = path.file_name()?.to_string_lossy().into_owned();
        let lies = |name: &str| fs::symlink_metadata(path.join(name)).is_ok();
        let (finished, planned) = (lies("run.json"), lies("plan.yaml"));
        let openable = finished || planned;
        let named = timestamp(&folder);
        // A process may have been stopped before it wrote the plan, or the folder may not be
        // readable.
        let began = || lies("environment.json") || lies("intervals") || is_empty_or_closed(path);
        if fs::symlink_metadata(path.join("search.json")).is_ok() || !(openable || named.is_some() && began())
        {
            return None;
        }
        let written = fs::metadata(path.join("plan.yaml")).or_else(|_| fs::metadata(path));
        let written = written.and_then(|metadata| metadata.modified()).unwrap_or(UNIX_EPOCH);
        Some(Self {
            id: named.and_then(|_| folder.rsplit('-').next()).unwrap_or_default().to_owned(),
            stamp: named.map_or_else(|| stamp_without_name(path, written), str::to_owned),
            linked: fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()),
            path: path.to_owned(),
            folder,
            finished,
            openable,
            written,
        })
    }

    /// The sort key of lists: the start of the run, then the order of runs within one second.
    pub(crate) fn order(&self) -> impl Ord + '_ {
        (&self.stamp, self.written, &self.path)
    }

    /// Returns the start of the run: `20261121T190000Z`.
    pub(crate) fn stamp(&self) -> &str {
        &self.stamp
    }

    /// Returns the id stored in the archive, independent of the folder's name.
    pub(crate) fn stored_id(&self) -> Option<String> {
        environment(&self.path).map(|environment| environment.id).filter(|id| !id.is_empty())
    }
}

/// `environment.json` of the archive at `dir`, if it can be read.
pub(crate) fn environment(dir: &Path) -> Option<EnvironmentDoc> {
    let mut text = String::new();
    let file = open_file(&dir.join("environment.json")).ok()?;
    file.take(ENVIRONMENT_BYTES_MAX).read_to_string(&mut text).ok()?;
    EnvironmentDoc::from_json(&text).ok()
}

/// Like [`timestamp`] for a folder without one in its name: the stored start, or else the time of
/// writing.
fn stamp_without_name(path: &Path, written: SystemTime) -> String {
    let reported = environment(path).map(|environment| environment.started_at.replace(['-', ':'], ""));
    let by_plan = || {
        let since = written.duration_since(UNIX_EPOCH).unwrap_or_default();
        WallTime(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)).folder_stamp()
    };
    reported.filter(|reported| reported.len() == 16).unwrap_or_else(by_plan)
}

fn is_empty_or_closed(path: &Path) -> bool {
    fs::read_dir(path).map_or_else(
        |error| error.kind() == std::io::ErrorKind::PermissionDenied,
        |mut entries| entries.next().is_none(),
    )
}
