//! A snapshot as text: `== PATH`, then the file's lines, each after a blank.

use std::fmt::Write as _;

use super::Snapshot;

/// The last line. Without it the text is incomplete.
const END: &str = "== end";

impl Snapshot {
    /// Reads what [`snapshot_script`](super::snapshot_script) printed. `None`: the end is missing.
    pub fn parse(text: &str) -> Option<Self> {
        let mut snapshot = Self::default();
        let mut current: Option<(String, String)> = None;
        for line in text.lines() {
            if let Some(path) = line.strip_prefix("== ") {
                snapshot.files.extend(current.take());
                if line == END {
                    return Some(snapshot);
                }
                current = Some((path.to_owned(), String::new()));
            } else if let Some((_, text)) = current.as_mut() {
                let _ = writeln!(text, "{}", line.strip_prefix(' ').unwrap_or(line));
            }
        }
        None
    }
}
