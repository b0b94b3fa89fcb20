//! Packed runs: a whole archive in one file, which can be read wherever a run's folder can.
//!
//! A pack is a tar file compressed by gzip. Its first file is `pack.json`, which lists every later
//! file with its length and its SHA-256. A reader accepts exactly these files, in that order.
//! Anything unannounced ends the reading: a second file of a name, a link, a path that leads
//! elsewhere, one byte too many. Only files announced within the limits below are unpacked. The
//! format is described in `docs/formats/pack.md`.

mod unpacked;
mod writing;

pub use unpacked::Unpacked;
pub use writing::{Packed, pack};

use std::path::Path;

use wavetank_record::PackDoc;
use wavetank_units::{Code, UserError, sanitize};

use crate::contents::FILES_MAX;

/// Name of the first file in a pack.
const PACK_JSON: &str = "pack.json";
/// Maximum length of `pack.json` in bytes: about 200 for each file.
const PACK_JSON_BYTES_MAX: u64 = 8 << 20;
/// Maximum unpacked size of a pack. An hour of load takes up to 0.1 GB, a day with many steps a few
/// GB.
const UNPACKED_BYTES_MAX: u64 = 64 << 30;
/// Up to this unpacked size, the compression ratio is not checked.
const HARMLESS_BYTES: u64 = 1 << 30;
/// Maximum compression ratio of a larger pack.
const SHRINKING_MAX: u64 = 200;
/// Maximum length of one name in a path, in bytes.
const NAME_BYTES_MAX: usize = 200;
/// Maximum number of names in a path.
const DEPTH_MAX: usize = 4;

/// Returns what is wrong with an announcement, if anything.
fn faults(doc: &PackDoc) -> Option<String> {
    if doc.files.len() > FILES_MAX {
        return Some(format!("it announces {} files, more than {FILES_MAX}", doc.files.len()));
    }
    if !is_name(&doc.folder) {
        return Some(format!("it announces an invalid folder name: `{}`", sanitize(&doc.folder)));
    }
    if let Some(file) = doc.files.iter().find(|file| !is_path(&file.path)) {
        return Some(format!("it announces an invalid path: `{}`", sanitize(&file.path)));
    }
    // Some file systems ignore case, so such names would be one file.
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

/// Returns whether a run with these files cannot shrink to `packed` bytes. Measurements as text
/// shrink to a tenth or a fiftieth, files made to fill a disk to a thousandth.
fn is_bomb(doc: &PackDoc, packed: u64) -> bool {
    let bytes: u64 = doc.files.iter().map(|file| file.bytes).sum();
    bytes > HARMLESS_BYTES && bytes / SHRINKING_MAX > packed
}

/// Returns whether `path` may be in a pack: plain names separated by `/` that do not lead out of
/// the folder.
fn is_path(path: &str) -> bool {
    path != PACK_JSON && path.split('/').count() <= DEPTH_MAX && path.split('/').all(is_name)
}

/// Returns whether `name` consists of letters, digits, `.`, `-` and `_`, does not start with `.` or
/// `-`, and does not end with `.`.
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
        Code::PackDamaged,
        format!("`{}` is not a complete packed run: {why}", sanitize(&path.to_string_lossy())),
        "copy it again from where it was made; `wavetank runs pack RUN` makes one",
    )
}
