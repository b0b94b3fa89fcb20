//! Skips are reported, never silently green.

use std::io::Write;

/// Reports that a test could not run here and why: on standard error, and as a line of the file
/// named by `WAVETANK_SKIPS`, from which the task runner lists all skips at the end.
#[expect(clippy::print_stderr, reason = "a skip must be visible wherever the test runs")]
pub fn skip(name: &str, reason: &str) {
    eprintln!("skipped {name}: {reason}");
    let Some(path) = std::env::var_os("WAVETANK_SKIPS") else { return };
    let line = format!("{name}: {reason}\n");
    let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
    file.and_then(|mut file| file.write_all(line.as_bytes()))
        .unwrap_or_else(|error| panic!("the list of skips must be writable: {}: {error}", path.display()));
}
