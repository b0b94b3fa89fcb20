//! Writes values in place, and files as a whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, fchown};
use std::path::{Path, PathBuf};

/// Largest file that is read.
const FILE_MAX: u64 = 1 << 20;

/// Returns where `path` is below `root`.
pub(crate) fn below(root: &Path, path: &str) -> PathBuf {
    root.join(path.trim_start_matches('/'))
}

/// Writes a value of the kernel with a single call, as its files need.
pub(crate) fn write_value(path: &Path, value: &str) -> io::Result<()> {
    OpenOptions::new().write(true).truncate(true).open(path)?.write_all(format!("{value}\n").as_bytes())
}

/// Writes a file so that it has either the former or the new text, also after a crash.
pub(crate) fn write_file(path: &Path, text: &str) -> io::Result<()> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".new");
    let unfinished = PathBuf::from(unfinished);
    let mut file = File::create(&unfinished)?;
    // A file keeps its owner and who may read it.
    if let Ok(former) = fs::metadata(path) {
        fchown(&file, Some(former.uid()), Some(former.gid()))?;
        file.set_permissions(former.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&unfinished, path)?;
    sync_folder(path)
}

/// Makes the entries of the folder of `path` durable.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

/// Reads a file; `None` if there is none.
pub(crate) fn read_text(path: &Path) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    match File::open(path).and_then(|file| file.take(FILE_MAX).read_to_end(&mut bytes)) {
        Ok(_) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the parts of a value with single blanks between them.
pub(crate) fn normalised(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
