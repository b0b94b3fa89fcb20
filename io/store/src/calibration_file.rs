//! [`CalibrationFile`]: the file that stores how much load hosts can generate.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use wavetank_record::{CalibrationDoc, CalibrationsDoc};
use wavetank_units::{Code, UserError};

use crate::file_access::{sync_dir, write_atomic};
use crate::store_problem::os_error_text;

/// Longest file that is read. A file with the maximum number of calibrations is far shorter.
const BYTES_MAX: u64 = 4 << 20;
/// Maximum number of calibrations; the oldest ones are removed.
const CALIBRATIONS_MAX: usize = 256;

/// Hint for a file that cannot be read.
const MADE_AGAIN: &str = "wavetank calibrate makes a new one";

/// A file of calibrations. The file and its folder do not need to exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalibrationFile {
    path: PathBuf,
}

impl CalibrationFile {
    /// The calibration file at `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the calibrations; `None` if the file does not exist.
    ///
    /// # Errors
    /// A usage error that names the file if it cannot be read or is damaged.
    pub fn read(&self) -> Result<Option<CalibrationsDoc>, UserError> {
        let unreadable = |why: &str, hint: &str| {
            let message = format!("cannot read `{}`: {why}", self.path.display());
            UserError::usage(Code::CalibrationUnreadable, message, hint)
        };
        // The file type is checked before opening: opening a pipe blocks until a process writes to
        // it, which may never happen.
        match fs::metadata(&self.path) {
            Ok(found) if found.is_file() => {}
            Ok(found) => {
                let why = if found.is_dir() { "it is a folder" } else { "it is not a regular file" };
                return Err(unreadable(why, "name the file itself: --out FILE"));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(&os_error_text(&error), MADE_AGAIN)),
        }
        let mut bytes = Vec::new();
        match File::open(&self.path).and_then(|file| file.take(BYTES_MAX + 1).read_to_end(&mut bytes)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(&os_error_text(&error), MADE_AGAIN)),
            Ok(_) => {}
        }
        let damaged = |why: String| {
            let message = format!("`{}` holds no calibrations: {why}", self.path.display());
            UserError::usage(Code::CalibrationDamaged, message, "wavetank calibrate replaces it")
        };
        if bytes.len() as u64 > BYTES_MAX {
            return Err(damaged(format!("it is longer than {BYTES_MAX} bytes")));
        }
        let text = String::from_utf8(bytes).map_err(|_| damaged("it is not UTF-8 text".to_owned()))?;
        CalibrationsDoc::from_json(&text).map(Some).map_err(|error| damaged(error.to_string()))
    }

    /// Stores `calibration` in place of the one with the same host and engine. The file is replaced
    /// as a whole or stays as it was. A damaged file is replaced.
    ///
    /// # Errors
    /// A usage error that names the file if it cannot be written.
    pub fn insert(&self, calibration: CalibrationDoc) -> Result<(), UserError> {
        let mut all = self.read().ok().flatten().map(|doc| doc.calibrations).unwrap_or_default();
        let key = |one: &CalibrationDoc| (one.host.hostname.clone(), one.engine.clone());
        all.retain(|one| key(one) != key(&calibration));
        all.push(calibration);
        let surplus = all.len().saturating_sub(CALIBRATIONS_MAX);
        all.drain(..surplus);
        self.replace(&(CalibrationsDoc::new(all).to_json() + "\n"))
    }

    /// Checks that the file can be written, before the work that produces its content.
    ///
    /// # Errors
    /// As [`CalibrationFile::insert`].
    pub fn check_writable(&self) -> Result<(), UserError> {
        if let Ok(found) = fs::metadata(&self.path)
            && !found.is_file()
        {
            let what = if found.is_dir() { "is a folder" } else { "is not a regular file" };
            return Err(unwritten(&format!("`{}` {what}", self.path.display())));
        }
        let partial = self.partial("")?;
        fs::remove_file(&partial).map_err(|error| unwritten(&os_error_text(&error)))
    }

    /// Writes `text` to a file next to this one. Its name contains the process id, since another
    /// process may be writing as well.
    fn partial(&self, text: &str) -> Result<PathBuf, UserError> {
        let folder = self.folder();
        fs::create_dir_all(folder).map_err(|error| {
            unwritten(&format!("cannot create `{}`: {}", folder.display(), os_error_text(&error)))
        })?;
        let mut partial = self.path.clone().into_os_string();
        partial.push(format!(".{}.partial", std::process::id()));
        let partial = PathBuf::from(partial);
        write_atomic(&partial, text).map_err(|problem| {
            // Clean-up only: no program reads a file of this name.
            let _ = fs::remove_file(&partial);
            unwritten(&problem.to_string())
        })?;
        Ok(partial)
    }

    fn folder(&self) -> &Path {
        self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    fn replace(&self, text: &str) -> Result<(), UserError> {
        let partial = self.partial(text)?;
        fs::rename(&partial, &self.path).map_err(|error| {
            let _ = fs::remove_file(&partial);
            unwritten(&format!("cannot write `{}`: {}", self.path.display(), os_error_text(&error)))
        })?;
        sync_dir(self.folder()).map_err(|problem| unwritten(&problem.to_string()))
    }
}

fn unwritten(why: &str) -> UserError {
    let message = format!("cannot store the calibration: {why}");
    UserError::usage(Code::CalibrationUnwritable, message, "choose a writable file: --out FILE")
}
