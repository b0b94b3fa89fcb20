//! [`CalibrationFile`]: where it is kept what hosts can do as generators.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use wavetank_plan::UserError;
use wavetank_record::{CalibrationDoc, CalibrationsDoc};

use crate::archive_writer::{sync_dir, write_atomic};
use crate::store_problem::plain;

/// A file with as many calibrations as are kept is far smaller.
const BYTES_MAX: u64 = 4 << 20;
/// Calibrations that are kept; the oldest go.
const CALIBRATIONS_MAX: usize = 256;

/// What helps where it cannot be read.
const MADE_ANEW: &str = "wavetank calibrate makes a new one";

/// A file of calibrations. It need not exist yet, nor its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalibrationFile {
    path: PathBuf,
}

impl CalibrationFile {
    /// The one at `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it holds; `None` if it is not there.
    ///
    /// # Errors
    /// Where it cannot be read, or is damaged: a usage error that names it.
    pub fn read(&self) -> Result<Option<CalibrationsDoc>, UserError> {
        let unreadable = |why: &str, hint: &str| {
            let message = format!("cannot read `{}`: {why}", self.path.display());
            UserError::usage("calibration_unreadable", message, hint)
        };
        // Looked at before it is opened: a pipe is not open before somebody writes into it, and that may be never.
        match fs::metadata(&self.path) {
            Ok(found) if found.is_file() => {}
            Ok(found) => {
                let why = if found.is_dir() { "it is a folder" } else { "it is no file" };
                return Err(unreadable(why, "name the file itself: --out FILE"));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(&plain(&error), MADE_ANEW)),
        }
        let mut bytes = Vec::new();
        match File::open(&self.path).and_then(|file| file.take(BYTES_MAX + 1).read_to_end(&mut bytes)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(&plain(&error), MADE_ANEW)),
            Ok(_) => {}
        }
        let damaged = |why: String| {
            let message = format!("`{}` holds no calibrations: {why}", self.path.display());
            UserError::usage("calibration_damaged", message, "wavetank calibrate replaces it")
        };
        if bytes.len() as u64 > BYTES_MAX {
            return Err(damaged(format!("it is longer than {BYTES_MAX} bytes")));
        }
        let text = String::from_utf8(bytes).map_err(|_| damaged("it is no text".to_owned()))?;
        CalibrationsDoc::from_json(&text).map(Some).map_err(|error| damaged(error.to_string()))
    }

    /// Put `calibration` in place of the one of the same host and engine. The file is replaced as a whole or stays as it
    /// was; a damaged one is replaced.
    ///
    /// # Errors
    /// Where it cannot be written: a usage error that names it.
    pub fn insert(&self, calibration: CalibrationDoc) -> Result<(), UserError> {
        let mut all = self.read().ok().flatten().map(|doc| doc.calibrations).unwrap_or_default();
        let key = |one: &CalibrationDoc| (one.host.hostname.clone(), one.engine.clone());
        all.retain(|one| key(one) != key(&calibration));
        all.push(calibration);
        let surplus = all.len().saturating_sub(CALIBRATIONS_MAX);
        all.drain(..surplus);
        self.replace(&(CalibrationsDoc::new(all).to_json() + "\n"))
    }

    /// Whether it could be written now, found out before the work that is to be stored.
    ///
    /// # Errors
    /// As [`CalibrationFile::insert`].
    pub fn check_writable(&self) -> Result<(), UserError> {
        if let Ok(found) = fs::metadata(&self.path)
            && !found.is_file()
        {
            let what = if found.is_dir() { "is a folder" } else { "is no file" };
            return Err(unwritten(&format!("`{}` {what}", self.path.display())));
        }
        let partial = self.partial("")?;
        fs::remove_file(&partial).map_err(|error| unwritten(&plain(&error)))
    }

    /// A file beside it with `text`, under a name of this process's own: another one may be writing, too.
    fn partial(&self, text: &str) -> Result<PathBuf, UserError> {
        let folder = self.folder();
        fs::create_dir_all(folder)
            .map_err(|error| unwritten(&format!("cannot make `{}`: {}", folder.display(), plain(&error))))?;
        let mut partial = self.path.clone().into_os_string();
        partial.push(format!(".{}.partial", std::process::id()));
        let partial = PathBuf::from(partial);
        write_atomic(&partial, text).map_err(|problem| {
            // Only tidiness: under this name nobody looks for it.
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
            unwritten(&format!("cannot write `{}`: {}", self.path.display(), plain(&error)))
        })?;
        sync_dir(self.folder()).map_err(|problem| unwritten(&problem.to_string()))
    }
}

fn unwritten(why: &str) -> UserError {
    let message = format!("the calibration could not be stored: {why}");
    UserError::usage("calibration_unwritable", message, "choose a place that can be written: --out FILE")
}
