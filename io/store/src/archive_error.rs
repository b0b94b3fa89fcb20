//! Errors about folders that are not archives, and about files that cannot be read.

use std::io;
use std::path::Path;

use wavetank_record::DecodeError;
use wavetank_units::{Code, UserError, sanitize};

use crate::contents::unreadable;
use crate::file_access::is_dir_locked;
use crate::search_marker::{ANSWER, has_no_result};

pub(crate) fn not_an_archive(path: &Path) -> UserError {
    let answer = path.join(ANSWER);
    let is_search = answer.is_file();
    if !is_search && answer.exists() {
        return unreadable(&answer, &io::Error::other("it is not a regular file"));
    }
    let unanswered = has_no_result(path);
    let under_way = unanswered && is_dir_locked(path);
    let path = sanitize(&path.to_string_lossy()).into_owned();
    if unanswered {
        let how = if under_way {
            "is in progress and has no answer yet"
        } else {
            "was interrupted before its first answer"
        };
        return UserError::usage(
            Code::NotAnArchive,
            format!("`{path}` is a search that {how}"),
            format!(
                "its runs: wavetank runs --runs-dir '{path}/runs'; one of them: wavetank report '{path}/runs/NAME'"
            ),
        );
    }
    if is_search {
        return UserError::usage(
            Code::NotAnArchive,
            format!("`{path}` is a search, not a run"),
            format!("wavetank report '{path}' shows it; its runs: wavetank runs --runs-dir '{path}/runs'"),
        );
    }
    UserError::usage(
        Code::NotAnArchive,
        format!("`{path}` is not an archive of a run: it has no `run.json` and no `plan.yaml`"),
        "name a run by its folder, the start of its id, or `latest`",
    )
}

/// The error for the unreadable file `name` of the archive at `shown`, with a hint on how to do
/// without it.
pub(crate) fn unread(shown: &Path, packed: bool, name: &str, error: &DecodeError) -> UserError {
    let shown = sanitize(&shown.to_string_lossy()).into_owned();
    if error.is_newer() {
        return newer(&shown, name, error);
    }
    let hint = if packed {
        "unpack it with `wavetank runs unpack`, and move `run.json` out of its folder: the run then opens as incomplete"
            .to_owned()
    } else {
        let path = format!("{shown}/{name}");
        format!("without it the run opens as incomplete: mv '{path}' '{path}.damaged'")
    };
    UserError::usage(Code::ArchiveDamaged, format!("cannot read `{name}` of `{shown}`: {error}"), hint)
}

/// The error for a file written by a later version, which is not damage.
pub(crate) fn newer(shown: &str, name: &str, error: &DecodeError) -> UserError {
    UserError::usage(
        Code::ArchiveNewer,
        format!("`{name}` of `{shown}` was written by a later version of wavetank: {error}"),
        "use the version that made it, or a later one; nothing here is damaged",
    )
}
