//! Reading the small files of `/proc` and `/sys`.

use std::fs;
use std::path::Path;

use crate::parse;

/// The text of a file, or nothing where it is absent, unreadable or no text.
pub(crate) fn text(path: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// The one number that is in a file, or nothing where there is none.
pub(crate) fn number(path: impl AsRef<Path>) -> Option<u64> {
    parse::number(&text(path)?)
}
