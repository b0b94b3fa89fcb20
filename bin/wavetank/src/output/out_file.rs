//! [`OpenFile`]: a file that gets a result, whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use wavetank_store::os_error_text;
use wavetank_units::{Code, UserError};

use crate::cli::{OutFile, OutputFormat};

/// A writable `--out` file. It stays unchanged until there is a result. A file that did not exist
/// before is removed again if there is no result.
pub(crate) struct OpenFile {
    file: File,
    pub(crate) path: PathBuf,
    pub(crate) format: OutputFormat,
    /// It was not there before, and nothing is in it yet.
    empty: bool,
}

/// Every `--out` file can be written, found out before anything is sent.
pub(crate) fn open_all(out: &[OutFile]) -> Result<Vec<OpenFile>, UserError> {
    out.iter()
        .map(|out| {
            OpenFile::open(out).map_err(|error| {
                UserError::usage(
                    Code::OutUnwritable,
                    format!("cannot write `--out {}`: {}", out.path.display(), os_error_text(&error)),
                    "name a file in a folder that exists and can be written",
                )
            })
        })
        .collect()
}

impl OpenFile {
    fn open(out: &OutFile) -> io::Result<Self> {
        let OutFile { path, format } = out;
        let mut options = OpenOptions::new();
        options.write(true);
        let (file, empty) = match options.clone().create_new(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                (options.create(true).truncate(false).open(path)?, false)
            }
            made => (made?, true),
        };
        Ok(Self { file, path: path.clone(), format: *format, empty })
    }

    /// Lets `write` write the result into a temporary file in the same folder, which then replaces
    /// this one. If that is impossible, as for a pipe or a device, it writes directly.
    pub(crate) fn write_atomically<E: From<io::Error>>(
        mut self,
        write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(alongside) = self.sibling() else {
            self.empty = false;
            self.make_empty()?;
            return through(&self.file, write);
        };
        let written = through(&alongside.file, write).and_then(|()| Ok(self.take_from(&alongside)?));
        // Where it has taken this one's place already, there is nothing left to remove.
        let _ = fs::remove_file(&alongside.path);
        written
    }

    /// Creates a file in the same folder with the same permissions. `None` if that is impossible,
    /// or if replacing this file would change more than its content.
    fn sibling(&self) -> Option<TempSibling> {
        let path = fs::canonicalize(&self.path).ok()?;
        let known = self.file.metadata().ok()?;
        if !known.is_file() || has_other_names(&known) {
            return None;
        }
        let name = format!(".{}.{}.part", path.file_name()?.to_string_lossy(), std::process::id());
        let part = path.with_file_name(name);
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&part).ok()?;
        let alongside = TempSibling { file, path: part, place: path };
        if fs::set_permissions(&alongside.path, known.permissions()).is_err() {
            let _ = fs::remove_file(&alongside.path);
            return None;
        }
        Some(alongside)
    }

    /// A file that is mounted by itself cannot be replaced; then it gets the bytes.
    fn take_from(&mut self, alongside: &TempSibling) -> io::Result<()> {
        self.empty = false;
        if fs::rename(&alongside.path, &alongside.place).is_ok() {
            return Ok(());
        }
        self.make_empty()?;
        let mut from = &alongside.file;
        from.rewind()?;
        io::copy(&mut from, &mut self.file).map(drop)
    }

    /// A pipe or a device has no length.
    fn make_empty(&self) -> io::Result<()> {
        if self.file.metadata()?.is_file() { self.file.set_len(0) } else { Ok(()) }
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        if self.empty {
            let _ = fs::remove_file(&self.path);
        }
    }
}

struct TempSibling {
    file: File,
    path: PathBuf,
    /// Path of the file to replace.
    place: PathBuf,
}

fn through<E: From<io::Error>>(
    file: &File,
    write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    let mut to = BufWriter::with_capacity(1 << 16, file);
    write(&mut to)?;
    Ok(to.flush()?)
}

#[cfg(unix)]
fn has_other_names(known: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(known) > 1
}

#[cfg(not(unix))]
const fn has_other_names(_: &fs::Metadata) -> bool {
    false
}

/// Put `text` into the file at `path`, as far as that can be done.
pub(super) fn overwrite(path: &Path, text: &str) {
    let _ = fs::write(path, text);
}
