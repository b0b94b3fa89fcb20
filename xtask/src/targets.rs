//! Rust's targets: which are installed, and getting one that is not.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, anyhow};

/// Checks that the standard library of `triple` is installed, or installs it with rustup. The error
/// is one line with the reason.
pub(crate) fn ensure(root: &Path, triple: &str) -> Result<()> {
    if is_installed(root, triple) {
        return Ok(());
    }
    let output = Command::new("rustup").args(["target", "add", triple]).current_dir(root).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(anyhow!(
            "the target {triple} cannot be had: rustup target add {triple}: {}",
            last_line(&String::from_utf8_lossy(&output.stderr))
        )),
        Err(_) => Err(anyhow!(
            "the target {triple} is not installed and there is no rustup to add it: \
             install Rust's standard library for {triple} with what brought the compiler"
        )),
    }
}

/// Returns whether the compiler of this repository has a standard library for `triple`, installed
/// by any means.
fn is_installed(root: &Path, triple: &str) -> bool {
    let output = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", triple])
        .current_dir(root)
        .output();
    let Ok(output) = output else { return false };
    output.status.success() && holds_a_library(Path::new(String::from_utf8_lossy(&output.stdout).trim()))
}

fn holds_a_library(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("libstd-"))
}

fn last_line(text: &str) -> &str {
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no word why").trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_that_does_not_exist_is_reported_in_one_line() {
        let error =
            ensure(&crate::root(), "pdp11-dec-unix").expect_err("there is no such target").to_string();
        assert!(error.contains("pdp11-dec-unix") && !error.contains('\n'), "{error}");
    }

    #[test]
    fn a_folder_without_a_standard_library_is_no_target() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(!holds_a_library(folder.path()));
        std::fs::write(folder.path().join("libstd-0123.rlib"), "").expect("a file");
        assert!(holds_a_library(folder.path()));
    }

    #[test]
    fn the_last_word_is_the_reason() {
        assert_eq!(last_line("info: downloading\nerror: no network\n\n"), "error: no network");
        assert_eq!(last_line(""), "no word why");
    }
}
