//! [`RunsDir`]: the folder that holds the archives of all runs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use wavetank_plan::{UserError, harmless};
use wavetank_record::{BesideDoc, BesideKind, Wall};

use crate::RunEntry;
use crate::run_entry::stamp_of;
use crate::search_folder::ANSWER;
use crate::store_problem::plain;

/// Letters of a run's name that go into its folder's name at most.
const NAME_CHARS_MAX: usize = 48;
/// Runs named at most where a word fits several.
pub(crate) const NAMES_TOLD_MAX: usize = 8;
/// A packed run's file ends so.
pub const PACK_SUFFIX: &str = "wtrun";
/// A run that is being removed is first renamed to this and its name.
pub(crate) const REMOVED_PREFIX: &str = ".wavetank-removed-";

/// The folder that holds archives, each named `<UTC yyyymmddThhmmssZ>-<name>-<id>`. It need not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunsDir {
    path: PathBuf,
}

/// What lies in the runs directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// All archives, oldest first.
    pub runs: Vec<RunEntry>,
    /// Everything else, by name.
    pub beside: Vec<BesideDoc>,
}

impl RunsDir {
    /// The runs directory at `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of the run called `name` with `id` that started at `started`.
    pub fn folder(&self, started: Wall, name: &str, id: &str) -> PathBuf {
        self.path.join(format!("{}-{}-{}", started.compact(), sanitized(name), sanitized(id)))
    }

    /// All archives, oldest first, and what lies beside them; nothing if the directory does not exist.
    ///
    /// # Errors
    /// A usage error if it is there and cannot be read: `runs_unreadable`.
    pub fn list(&self) -> Result<Listing, UserError> {
        let mut listing = Listing::default();
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(listing),
            Err(error) => return Err(self.unreadable(&error)),
        };
        for entry in entries {
            let path = entry.map_err(|error| self.unreadable(&error))?.path();
            match RunEntry::new(&path).filter(|_| path.is_dir()) {
                Some(run) if !is_removed(&run.folder) => listing.runs.push(run),
                _ => listing.beside.push(beside(&path)),
            }
        }
        listing.runs.sort_by(|a, b| a.order().cmp(&b.order()));
        listing.beside.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(listing)
    }

    /// The archive called `word`: `latest`, the beginning of an id or folder name, or a path to a folder or to a packed
    /// run. `latest` is never a packed run.
    ///
    /// # Errors
    /// A usage error if there is none, or more than one, or the directory cannot be read.
    pub fn find(&self, word: &str) -> Result<PathBuf, UserError> {
        let by_path = || Some(PathBuf::from(word)).filter(|path| !word.is_empty() && path.exists());
        let Listing { runs, beside } = match (self.list(), by_path()) {
            (Ok(listing), _) => listing,
            (Err(_), Some(path)) if word != "latest" => return Ok(path),
            (Err(error), _) => return Err(error),
        };
        if word == "latest" {
            let latest = runs.iter().rfind(|run| run.openable);
            return latest.map(|run| run.path.clone()).ok_or_else(|| self.none_yet(&beside));
        }
        let named = |run: &&RunEntry| run.id.starts_with(word) || run.folder.starts_with(word);
        let mut matching: Vec<_> = runs.iter().filter(|run| !word.is_empty() && named(run)).collect();
        if matching.is_empty() && by_path().is_none() && !word.is_empty() {
            // A folder's name may have been changed by hand; what is stored in it has not.
            matching =
                runs.iter().filter(|run| run.stored_id().is_some_and(|id| id.starts_with(word))).collect();
        }
        match (matching.as_slice(), by_path()) {
            ([run], _) => Ok(run.path.clone()),
            ([], Some(path)) => Ok(path),
            ([], None) if runs.is_empty() => Err(self.none_yet(&beside)),
            ([], None) => Err(UserError::usage(
                "run_unknown",
                format!("no run `{}` in `{}`", harmless(word), self.shown()),
                "name a run by its folder, the beginning of its id, or `latest`: wavetank runs lists them",
            )),
            (several, _) => Err(ambiguous(word, several)),
        }
    }

    /// The directory in messages.
    pub(crate) fn shown(&self) -> String {
        harmless(&self.path.to_string_lossy()).into_owned()
    }

    fn none_yet(&self, beside: &[BesideDoc]) -> UserError {
        let message = format!("no runs in `{}`", self.shown());
        // By their names, which begin with the time, the last one is the newest.
        let searched = |one: &&BesideDoc| {
            one.kind == BesideKind::Search && self.path.join(&one.name).join(ANSWER).is_file()
        };
        let hint = match beside.iter().rfind(searched) {
            None => {
                "make one with `wavetank run URL`, or say where they are with `--runs-dir DIR`".to_owned()
            }
            Some(search) => {
                let folder = self.path.join(&search.name);
                format!("a search lies there: wavetank report {}", harmless(&folder.to_string_lossy()))
            }
        };
        UserError::usage("run_unknown", message, hint)
    }

    fn unreadable(&self, error: &io::Error) -> UserError {
        let (why, hint) = match error.kind() {
            io::ErrorKind::NotADirectory => {
                ("it is a file, not a folder".to_owned(), "say where runs lie with `--runs-dir DIR`")
            }
            io::ErrorKind::PermissionDenied => (
                plain(error),
                "ask whose it is for the right to read it, or name another one with `--runs-dir DIR`",
            ),
            _ => (plain(error), "check the path, or name another one with `--runs-dir DIR`"),
        };
        let message = format!("cannot read the runs directory `{}`: {why}", self.shown());
        UserError::usage("runs_unreadable", message, hint)
    }
}

fn ambiguous(word: &str, several: &[&RunEntry]) -> UserError {
    let alike = several.iter().all(|run| run.id == several[0].id);
    let name = |run: &&RunEntry| {
        let name = if alike || run.id.is_empty() { &run.folder } else { &run.id };
        format!("`{}`", harmless(name))
    };
    let names: Vec<_> = several.iter().map(name).take(NAMES_TOLD_MAX).collect();
    UserError::usage(
        "run_ambiguous",
        format!("`{}` fits {} runs", harmless(word), several.len()),
        format!("write more of the {}: {}", if alike { "folder's name" } else { "id" }, names.join(", ")),
    )
}

/// What `path`, which is no archive, is.
fn beside(path: &Path) -> BesideDoc {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let kind = if path.is_dir() {
        if is_removed(&name) {
            BesideKind::Removed
        } else if path.join(ANSWER).exists() || stamp_of(&name).is_some() && path.join("runs").is_dir() {
            // Before its first answer a search has its runs only.
            BesideKind::Search
        } else {
            BesideKind::Other
        }
    } else if path.extension().is_some_and(|extension| extension == PACK_SUFFIX) && path.is_file() {
        BesideKind::Pack
    } else {
        BesideKind::Other
    };
    BesideDoc { name, kind }
}

/// Whether a folder is a run whose removal was interrupted.
pub(crate) fn is_removed(folder: &str) -> bool {
    folder.starts_with(REMOVED_PREFIX)
}

/// Six random hexadecimal digits. Ids only need to differ within one runs directory, and creating a folder
/// that exists already fails.
pub fn new_id() -> String {
    let mut bytes = [0; 3];
    // Where a sandbox forbids even that, ids of processes differ well enough.
    if getrandom::fill(&mut bytes).is_err() {
        bytes.copy_from_slice(&std::process::id().to_le_bytes()[..3]);
    }
    let [a, b, c] = bytes;
    format!("{a:02x}{b:02x}{c:02x}")
}

/// A host's name as the name of its file. It is read back from there, so that it stays as it is where every system can have
/// it.
pub(crate) fn file_stem(name: &str) -> String {
    let plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    let kept =
        name.chars().all(plain) && (1..=NAME_CHARS_MAX).contains(&name.len()) && !name.starts_with('-');
    if kept { name.to_owned() } else { sanitized(name) }
}

/// `name` as part of a folder's name: letters, digits, `.` and `_` stay, everything else becomes one `-`.
pub(crate) fn sanitized(name: &str) -> String {
    let mut clean = String::new();
    for letter in name.chars() {
        match letter {
            letter if letter.is_ascii_alphanumeric() || letter == '_' => clean.push(letter),
            '.' if !clean.is_empty() && !clean.ends_with('.') => clean.push('.'),
            _ if clean.ends_with('-') || clean.is_empty() => {}
            _ => clean.push('-'),
        }
        if clean.len() >= NAME_CHARS_MAX {
            break;
        }
    }
    let clean = clean.trim_matches(['-', '.']);
    if clean.is_empty() { "run".to_owned() } else { clean.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, folder: &str) {
        assert_eq!(sanitized(name), folder, "{name:?}");
    }

    #[test]
    fn hosts_keep_their_names_where_they_can() {
        for name in ["lb1", "app-1", "app--1", "7"] {
            assert_eq!(file_stem(name), name);
        }
        for (name, stem) in [("../x", "x"), ("", "run"), ("-x", "x"), ("a/b", "a-b"), ("App 1", "App-1")] {
            assert_eq!(file_stem(name), stem, "{name:?}");
        }
    }

    #[test]
    fn names_become_safe_parts_of_a_path() {
        check("lb-million", "lb-million");
        check("localhost:8080/api/users", "localhost-8080-api-users");
        check("../../etc/passwd", "etc-passwd");
        check("..", "run");
        check("", "run");
        check("ä ö\0/ü", "run");
        check("a…b", "a-b");
        check(&"x".repeat(500), &"x".repeat(NAME_CHARS_MAX));
        check("[::1]:80", "1-80");
    }
}
