//! What makes a folder a search: the names of its parts.

use std::path::Path;

use crate::folder_name::timestamp;

/// File with the answer.
pub(crate) const ANSWER: &str = "search.json";

/// Folder with the archives of its runs.
pub(crate) const RUNS: &str = "runs";

/// Returns whether the folder at `dir` is a search without an answer. Before its first answer, a
/// search has only its runs.
pub(crate) fn has_no_result(dir: &Path) -> bool {
    // `.` and `..` have a name only once they are resolved.
    let whole = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    let named = dir.file_name().or_else(|| whole.file_name()).unwrap_or_default().to_string_lossy();
    timestamp(&named).is_some()
        && dir.join(RUNS).is_dir()
        && [ANSWER, "run.json", "plan.yaml"].iter().all(|name| dir.join(name).symlink_metadata().is_err())
}
