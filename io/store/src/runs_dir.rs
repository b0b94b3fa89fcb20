//! [`RunsDir`]: the folder that holds the archives of all runs.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use wavetank_plan::UserError;
use wavetank_record::Wall;

/// Letters of a run's name that go into its folder's name at most.
const NAME_CHARS_MAX: usize = 48;

/// The folder that holds archives, each named `<UTC yyyymmddThhmmssZ>-<name>-<id>`. It need not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunsDir {
    path: PathBuf,
}

/// One archive in the runs directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEntry {
    /// Its folder.
    pub path: PathBuf,
    /// The folder's name.
    pub folder: String,
    /// Id of the run.
    pub id: String,
    /// Whether `run.json` is there.
    pub finished: bool,
    /// When its plan was written: tells runs of one second apart.
    written: SystemTime,
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

    /// All archives, oldest first; none if the directory does not exist.
    pub fn list(&self) -> Vec<RunEntry> {
        let Ok(entries) = fs::read_dir(&self.path) else { return Vec::new() };
        let mut runs: Vec<_> = entries.filter_map(|entry| RunEntry::new(&entry.ok()?.path())).collect();
        runs.sort_by(|a, b| (a.stamp(), a.written, &a.folder).cmp(&(b.stamp(), b.written, &b.folder)));
        runs
    }

    /// The archive called `word`: a path to its folder, `latest`, or the beginning of an id or folder name.
    ///
    /// # Errors
    /// A usage error if there is none, or more than one.
    pub fn find(&self, word: &str) -> Result<PathBuf, UserError> {
        let runs = self.list();
        if word == "latest" {
            return runs.last().map(|run| run.path.clone()).ok_or_else(|| self.none_yet());
        }
        let matching: Vec<_> = runs
            .iter()
            .filter(|run| !word.is_empty() && (run.id.starts_with(word) || run.folder.starts_with(word)))
            .collect();
        match matching.as_slice() {
            [run] => Ok(run.path.clone()),
            [] if Path::new(word).is_dir() => Ok(PathBuf::from(word)),
            [] if runs.is_empty() => Err(self.none_yet()),
            [] => Err(UserError::usage(
                "run_unknown",
                format!("no run `{word}` in `{}`", self.path.display()),
                "name a run by its folder, the beginning of its id, or `latest`",
            )),
            several => {
                let ids: Vec<_> = several.iter().map(|run| format!("`{}`", run.id)).take(8).collect();
                Err(UserError::usage(
                    "run_ambiguous",
                    format!("`{word}` fits {} runs", several.len()),
                    format!("write more of the id: {}", ids.join(", ")),
                ))
            }
        }
    }

    fn none_yet(&self) -> UserError {
        UserError::usage(
            "run_unknown",
            format!("no runs in `{}`", self.path.display()),
            "make one with `wavetank run URL`, or say where they are with `--runs-dir DIR`",
        )
    }
}

impl RunEntry {
    /// `None` if `path` is no archive's folder.
    fn new(path: &Path) -> Option<Self> {
        let folder = path.file_name()?.to_str()?.to_owned();
        let stamp = folder.split('-').next()?;
        let written = fs::metadata(path.join("plan.yaml")).ok()?.modified().ok()?;
        let id = folder.rsplit('-').next()?.to_owned();
        let whole = stamp.len() == 16 && stamp.ends_with('Z') && folder.len() > stamp.len() + 1;
        let finished = path.join("run.json").is_file();
        whole.then(|| Self { path: path.to_owned(), folder: folder.clone(), id, finished, written })
    }

    fn stamp(&self) -> &str {
        self.folder.split('-').next().unwrap_or_default()
    }
}

/// Six random hexadecimal digits. Ids only need to differ within one runs directory, and creating a folder
/// that exists already fails.
pub fn new_id() -> String {
    let mut bytes = [0; 3];
    let random = fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    if random.is_err() {
        bytes.copy_from_slice(&std::process::id().to_le_bytes()[..3]);
    }
    let [a, b, c] = bytes;
    format!("{a:02x}{b:02x}{c:02x}")
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
