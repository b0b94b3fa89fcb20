//! [`Contents`]: the files in an archive's folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use wavetank_record::FileDoc;
use wavetank_units::{Code, UserError, sanitize};

use crate::store_problem::os_error_text;

/// Maximum number of files scanned in one archive. A fleet of 1,000 agents has two files each.
pub(crate) const FILES_MAX: usize = 16_384;
/// Maximum number of files of lines in one folder.
const LINE_FILES_MAX: usize = 1_024;
/// Maximum depth of nested folders.
const DEPTH_MAX: usize = 3;
/// Files at the top level of an archive.
const OWN: [&str; 8] = [
    "plan.yaml",
    "environment.json",
    "run.json",
    "run.json.partial",
    "events.jsonl",
    "fleet.jsonl",
    "samples.jsonl",
    "truth.jsonl",
];
/// Folders of an archive with a file of lines for each agent or host.
const OWN_FOLDERS: [&str; 2] = ["intervals", "hosts"];
/// Folder of an archive for logs of services. It contains a folder for each host of a lab.
pub(crate) const SERVICES_FOLDER: &str = "services";

/// The files in an archive's folder. Links are not followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    /// Regular files, by path with `/`.
    pub(crate) files: Vec<FileDoc>,
    /// Paths of links and special files, and of entries with a name that is not UTF-8.
    pub(crate) odd: Vec<String>,
}

impl Contents {
    /// Lists the files in `dir`.
    ///
    /// # Errors
    /// A usage error if it cannot be read, or holds far more files than any archive.
    pub(crate) fn scan(dir: &Path) -> Result<Self, UserError> {
        let mut contents = Self::default();
        contents.add(dir, "", 0)?;
        contents.files.sort_by(|a, b| a.path.cmp(&b.path));
        contents.odd.sort();
        Ok(contents)
    }

    /// Bytes of all files.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Paths that do not belong to any archive, so they were put there from outside.
    pub(crate) fn foreign(&self) -> impl Iterator<Item = &str> {
        let foreign = self.files.iter().map(|file| file.path.as_str()).filter(|path| !is_known_file(path));
        foreign.chain(self.odd.iter().map(String::as_str))
    }

    fn add(&mut self, dir: &Path, prefix: &str, depth: usize) -> Result<(), UserError> {
        for entry in fs::read_dir(dir).map_err(|error| unreadable(dir, &error))? {
            let entry = entry.map_err(|error| unreadable(dir, &error))?;
            let name = entry.file_name();
            let path = format!("{prefix}{}", name.to_string_lossy());
            let metadata = entry.metadata().map_err(|error| unreadable(&entry.path(), &error))?;
            if metadata.is_dir() && depth < DEPTH_MAX {
                self.add(&entry.path(), &format!("{path}/"), depth + 1)?;
            } else if metadata.is_file() && name.to_str().is_some() {
                self.files.push(FileDoc { path, bytes: metadata.len() });
            } else {
                self.odd.push(path);
            }
            if self.files.len() + self.odd.len() > FILES_MAX {
                return Err(UserError::usage(
                    Code::NotAnArchive,
                    format!(
                        "`{}` holds more than {FILES_MAX} files: it is not an archive of a run",
                        sanitize(&dir.to_string_lossy())
                    ),
                    "name a run by its folder, the start of its id, or `latest`",
                ));
            }
        }
        Ok(())
    }
}

/// Returns whether an archive can have a file at `path`.
pub(crate) fn is_known_file(path: &str) -> bool {
    let line_file = |(folder, name): (&str, &str)| {
        let stem = name.strip_suffix(".jsonl");
        OWN_FOLDERS.contains(&folder) && stem.is_some_and(|stem| !stem.contains('/'))
    };
    let log = |(folder, log): (&str, &str)| {
        let (host, name) = log.split_once('/').unwrap_or_default();
        let stem = name.strip_suffix(".log");
        folder == SERVICES_FOLDER && !host.is_empty() && stem.is_some_and(|stem| !stem.contains('/'))
    };
    let (at_top, within) = (OWN.contains(&path), path.split_once('/'));
    at_top || within.is_some_and(|parts| line_file(parts) || log(parts))
}

/// Returns the `.jsonl` files in a folder, by name, at most [`LINE_FILES_MAX`].
pub(crate) fn line_files(dir: &Path) -> Result<Vec<PathBuf>, UserError> {
    let mut paths: Vec<_> = match fs::read_dir(dir) {
        Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).take(LINE_FILES_MAX).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(unreadable(dir, &error)),
    };
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    paths.sort();
    Ok(paths)
}

pub(crate) fn unreadable(path: &Path, error: &io::Error) -> UserError {
    UserError::usage(
        Code::ArchiveUnreadable,
        format!("cannot read `{}`: {}", sanitize(&path.to_string_lossy()), os_error_text(error)),
        "check the path and its permissions",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, own: bool) {
        assert_eq!(is_known_file(path), own, "{path}");
    }

    #[test]
    fn an_archive_has_files_of_these_names_alone() {
        check("plan.yaml", true);
        check("intervals/local.jsonl", true);
        check("hosts/app.jsonl", true);
        check("services/app/web.log", true);
        check("services/app/haproxy.error.log", true);
        check("services/web.log", false);
        check("services/app/deep/web.log", false);
        check("services//web.log", false);
        check("services/app/web.txt", false);
        check("intervals/deep/local.jsonl", false);
        check("thesis.txt", false);
    }
}
