//! Reading the small files of `/proc` and `/sys`.

use std::fs;
use std::path::Path;

/// The text of a file, or nothing where it is absent, unreadable or no text.
pub(crate) fn text(path: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(path).ok()
}
