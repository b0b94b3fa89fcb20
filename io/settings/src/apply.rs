//! [`apply`]: writes a plan of changes, all or nothing.

use std::fs;
use std::path::Path;

use wavetank_tuning::{ChangePlan, Journal, JournalEntry};

use crate::undo::{changed_since, restore};
use crate::write::{below, normalised, read_text, write_file, write_value};
use crate::{JournalFile, SettingsError};

/// One change that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedChange {
    /// A key or a path.
    pub what: String,
    /// The value before; empty for files.
    pub before: String,
    /// The value that was written; empty for files.
    pub requested: String,
    /// The value that was read back; empty for files.
    pub effective: String,
    /// What makes it effective; empty if it is so already.
    pub then: String,
    /// Where a file was kept that another program had changed since the last fix; else empty.
    pub changed_since: String,
}

/// A step of [`apply`] that is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApplyStep<'s> {
    /// The journal is on the disk.
    Journal,
    /// A value or file was written.
    Written(&'s str),
}

/// Writes the journal, then all values, each read back, then all files. If one is rejected,
/// everything that this call wrote is restored. `observe` returns whether to go on; if not, all
/// stays as it is, as after a crash.
///
/// # Errors
/// A journal that cannot be used, or a value or file that cannot be written.
pub fn apply(
    plan: &ChangePlan,
    root: &Path,
    observe: &mut dyn FnMut(ApplyStep<'_>) -> bool,
) -> Result<Vec<AppliedChange>, SettingsError> {
    let file = JournalFile::open(root)?;
    let former = file.read()?;
    let entries = entries(plan, root)?;
    let mut journal = former.clone().unwrap_or_default();
    entries.iter().cloned().for_each(|entry| journal.add(entry));
    file.write(&journal)?;
    let mut applied = Vec::new();
    if !observe(ApplyStep::Journal) {
        return Ok(applied);
    }
    for (index, entry) in entries.iter().enumerate() {
        // The journal does not have a change that another program made since the last fix.
        let known = former.iter().flat_map(Journal::undo_order).find(|known| known.path == entry.path);
        let known = known.filter(|known| !known.is_value);
        let changed_since = known.map(|known| changed_since(known, root)).unwrap_or_default();
        match write(plan, entry, root) {
            Ok(change) => applied.push(AppliedChange { changed_since, ..change }),
            Err(reason) => return Err(take_back(&entries[..=index], reason, root, &file, former.as_ref())),
        }
        if !observe(ApplyStep::Written(&entry.path)) {
            return Ok(applied);
        }
    }
    Ok(applied)
}

/// Reads what is there now, so that it can be restored exactly.
fn entries(plan: &ChangePlan, root: &Path) -> Result<Vec<JournalEntry>, SettingsError> {
    let rejected = |what: &str, value: &str, reason| SettingsError::Rejected {
        what: what.to_owned(),
        value: value.to_owned(),
        reason,
        unrestored: Vec::new(),
    };
    let mut entries = Vec::new();
    for value in &plan.values {
        let before = read_text(&below(root, &value.path))
            .and_then(|text| text.ok_or_else(|| std::io::ErrorKind::NotFound.into()))
            .map_err(|error| rejected(&value.what, &value.wanted, error))?;
        entries.push(JournalEntry {
            path: value.path.clone(),
            is_value: true,
            before: Some(before.trim_end_matches('\n').to_owned()),
            written: value.wanted.clone(),
            folders: Vec::new(),
        });
    }
    for file in &plan.files {
        let path = below(root, &file.path);
        let before = read_text(&path).map_err(|error| rejected(&file.path, "", error))?;
        let missing = |folder: &&Path| !folder.exists() && folder.starts_with(root);
        let folders = path.ancestors().skip(1).take_while(missing);
        let relative = |folder: &Path| format!("/{}", folder.strip_prefix(root).unwrap_or(folder).display());
        entries.push(JournalEntry {
            path: file.path.clone(),
            is_value: false,
            before,
            written: file.text.clone(),
            folders: folders.map(relative).collect(),
        });
    }
    Ok(entries)
}

fn write(plan: &ChangePlan, entry: &JournalEntry, root: &Path) -> std::io::Result<AppliedChange> {
    let path = below(root, &entry.path);
    if let Some(value) = plan.values.iter().find(|value| value.path == entry.path) {
        write_value(&path, &value.wanted)?;
        let effective = read_text(&path)?.unwrap_or_default();
        return Ok(AppliedChange {
            what: value.what.clone(),
            before: normalised(entry.before.as_deref().unwrap_or_default()),
            requested: value.wanted.clone(),
            effective: normalised(&effective),
            then: String::new(),
            changed_since: String::new(),
        });
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    write_file(&path, &entry.written)?;
    let then = plan.files.iter().find(|file| file.path == entry.path).map(|file| file.then.clone());
    Ok(AppliedChange {
        what: entry.path.clone(),
        before: String::new(),
        requested: String::new(),
        effective: String::new(),
        then: then.unwrap_or_default(),
        changed_since: String::new(),
    })
}

/// Restores what this call wrote, and the journal. The journal stays if something could not be
/// restored.
fn take_back(
    written: &[JournalEntry],
    reason: std::io::Error,
    root: &Path,
    file: &JournalFile,
    former: Option<&Journal>,
) -> SettingsError {
    let mut unrestored = Vec::new();
    for entry in written.iter().rev() {
        if let Err(error) = restore(entry, root) {
            unrestored.push(format!("{}: {error}", entry.path));
        }
    }
    if unrestored.is_empty() {
        let restored = former.map_or_else(|| file.remove(), |former| file.write(former));
        if let Err(error) = restored {
            unrestored.push(error.to_string());
        }
    }
    let last = written.last().expect("the rejected one");
    let value = if last.is_value { last.written.clone() } else { String::new() };
    let what = match last.path.strip_prefix("/proc/sys/") {
        Some(key) => key.replace('/', "."),
        None => last.path.clone(),
    };
    SettingsError::Rejected { what, value, reason, unrestored }
}
