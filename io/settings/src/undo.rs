//! [`undo`]: takes back every change since the first fix, also after a crash in the middle of one.

use std::fs;
use std::io;
use std::path::Path;

use wavetank_tuning::JournalEntry;

use crate::write::{below, normalised, read_text, sync_folder, write_file, write_value};
use crate::{JournalFile, SettingsError};

/// One change that was restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoneChange {
    /// The path.
    pub path: String,
    /// The value now; empty for files.
    pub restored: String,
    /// What another program had written since; empty if none had.
    pub changed_since: String,
    /// Why it could not be restored; empty if it was.
    pub failure: String,
}

/// Restores everything in the journal below `root`, the last change first. An empty list: there was
/// nothing to take back. The journal stays if something could not be restored, so that another undo
/// can.
///
/// # Errors
/// A journal that cannot be used.
pub fn undo(root: &Path) -> Result<Vec<UndoneChange>, SettingsError> {
    if !JournalFile::path_below(root).exists() {
        return Ok(Vec::new());
    }
    let file = JournalFile::open(root)?;
    let Some(journal) = file.read()? else { return Ok(Vec::new()) };
    let mut undone = Vec::new();
    for entry in journal.undo_order() {
        let changed_since = changed_since(entry, root);
        let failure = restore(entry, root).err().map(|error| reason(&error)).unwrap_or_default();
        undone.push(UndoneChange {
            path: entry.path.clone(),
            restored: if entry.is_value {
                normalised(entry.before.as_deref().unwrap_or_default())
            } else {
                String::new()
            },
            changed_since,
            failure,
        });
    }
    if undone.iter().all(|change| change.failure.is_empty()) {
        file.remove()?;
    }
    Ok(undone)
}

/// Returns the system's text without the number of the error.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error ").next().unwrap_or_default().to_owned()
}

/// Returns the content if another program wrote it since the fix. A changed file is
/// kept under another name.
pub(crate) fn changed_since(entry: &JournalEntry, root: &Path) -> String {
    let path = below(root, &entry.path);
    let Ok(Some(now)) = read_text(&path) else { return String::new() };
    let is = |text: &str| normalised(text) == normalised(&now);
    if is(&entry.written) || entry.before.as_deref().is_some_and(is) {
        return String::new();
    }
    if entry.is_value {
        return normalised(&now);
    }
    let mut kept = path.as_os_str().to_owned();
    kept.push(".edited");
    match fs::copy(&path, &kept) {
        Ok(_) => format!("kept as {}.edited", entry.path),
        Err(error) => format!("not kept: {error}"),
    }
}

/// Restores one value or file, and removes the folders that were made for it.
pub(crate) fn restore(entry: &JournalEntry, root: &Path) -> io::Result<()> {
    let path = below(root, &entry.path);
    match &entry.before {
        Some(before) if entry.is_value => {
            // A value that was never changed is not written again, because some cannot be.
            let now = read_text(&path)?.unwrap_or_default();
            if normalised(&now) != normalised(before) {
                write_value(&path, before)?;
            }
        }
        Some(before) => write_file(&path, before)?,
        None => {
            let mut unfinished = path.as_os_str().to_owned();
            unfinished.push(".new");
            for own in [path.as_os_str(), unfinished.as_os_str()] {
                match fs::remove_file(own) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
            if path.parent().is_some_and(Path::exists) {
                sync_folder(&path)?;
            }
        }
    }
    for folder in &entry.folders {
        // A folder that has other files by now stays.
        let _ = fs::remove_dir(below(root, folder));
    }
    Ok(())
}
