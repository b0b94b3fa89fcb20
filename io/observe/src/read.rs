//! Reads the small files of `/proc` and `/sys`.

use std::fs;
use std::path::Path;

use crate::{CpuTimes, parse};

/// Returns the text of a file; `None` if it is missing, unreadable or not text.
pub(crate) fn text(path: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// Returns the single number in a file; `None` if there is none.
pub(crate) fn number(path: impl AsRef<Path>) -> Option<u64> {
    parse::number(&text(path)?)
}

impl CpuTimes {
    /// Reads the ticks now; `None` if `/proc/stat` cannot be read.
    pub fn read() -> Option<Self> {
        parse::cpu_times(&text("/proc/stat")?)
    }
}
