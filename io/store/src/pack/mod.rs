//! Packed runs: a whole archive in one file, which is read wherever a run's folder is.
//!
//! A pack is a tar file compressed by gzip. It begins with `pack.json`, which names every file after it, its length
//! and its SHA-256. A reader takes exactly these, in that order: what is not announced (a second file of a name, a link, a
//! path that leads elsewhere, one byte too many) ends the reading, and nothing is unpacked that was not announced
//! within the limits below. Described in `docs/formats/pack.md`.

mod unpacked;
mod writing;

pub use unpacked::Unpacked;
pub use writing::{Packed, pack};

use std::path::Path;

use wavetank_plan::{UserError, sanitize};
use wavetank_record::PackDoc;

use crate::contents::FILES_MAX;

/// Name of the file that a pack begins with.
const PACK_JSON: &str = "pack.json";
/// Bytes of `pack.json` at most: some 200 a file.
const PACK_JSON_BYTES_MAX: u64 = 8 << 20;
/// Bytes that a pack may become: an hour of load takes at most a tenth of a gigabyte, a day with many steps some.
const UNPACKED_BYTES_MAX: u64 = 64 << 30;
/// So many bytes are unpacked whatever they were packed into.
const HARMLESS_BYTES: u64 = 1 << 30;
/// How many times smaller a larger run may have become.
const SHRINKING_MAX: u64 = 200;
/// Bytes of one name in a path.
const NAME_BYTES_MAX: usize = 200;
/// Names in a path.
const DEPTH_MAX: usize = 4;

/// What is wrong with an announcement, if anything.
fn faults(doc: &PackDoc) -> Option<String> {
    if doc.files.len() > FILES_MAX {
        return Some(format!("it announces {} files, more than {FILES_MAX}", doc.files.len()));
    }
    if !is_name(&doc.folder) {
        return Some(format!("it announces a folder that cannot be: `{}`", sanitize(&doc.folder)));
    }
    if let Some(file) = doc.files.iter().find(|file| !is_path(&file.path)) {
        return Some(format!("it announces a path that cannot be: `{}`", sanitize(&file.path)));
    }
    // Letters of both cases are one file on some systems.
    let mut seen: Vec<String> = doc.files.iter().map(|file| file.path.to_ascii_lowercase()).collect();
    seen.sort();
    if let Some(twice) = seen.windows(2).find_map(|pair| (pair[0] == pair[1]).then_some(&pair[0])) {
        return Some(format!("it announces `{twice}` twice"));
    }
    let bytes = doc.files.iter().try_fold(0u64, |sum, file| sum.checked_add(file.bytes));
    if bytes.is_none_or(|bytes| bytes > UNPACKED_BYTES_MAX) {
        return Some(format!("it announces more than {} GiB", UNPACKED_BYTES_MAX >> 30));
    }
    None
}

/// Whether so many bytes cannot be a run's, packed into `packed` bytes: text of measurements shrinks to a tenth or a
/// fiftieth, and what is made to fill a disk to a thousandth.
fn is_bomb(doc: &PackDoc, packed: u64) -> bool {
    let bytes: u64 = doc.files.iter().map(|file| file.bytes).sum();
    bytes > HARMLESS_BYTES && bytes / SHRINKING_MAX > packed
}

/// Whether `path` can be in a pack: plain names, `/` between them, nothing that leads out.
fn is_path(path: &str) -> bool {
    path != PACK_JSON && path.split('/').count() <= DEPTH_MAX && path.split('/').all(is_name)
}

/// Letters, digits, `.`, `-` and `_`, and neither `.` nor `-` at its beginning.
fn is_name(name: &str) -> bool {
    let plain = |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'.' | b'-' | b'_');
    !name.is_empty()
        && name.len() <= NAME_BYTES_MAX
        && !name.starts_with(['.', '-'])
        && !name.ends_with('.')
        && name.bytes().all(plain)
}

fn damaged(path: &Path, why: &str) -> UserError {
    UserError::usage(
        "pack_damaged",
        format!("`{}` is no whole packed run: {why}", sanitize(&path.to_string_lossy())),
        "copy it again from where it was made; `wavetank runs pack RUN` makes one",
    )
}
