//! Checks licences, bans and sources of every dependency with cargo-deny, which is built once into
//! `target/tools`.
//!
//! Building it takes a minute, and its answer depends on two files. `xtask/deny-checked.txt` has
//! their hash as of the last check that passed. While it is that of the files, the check is not
//! repeated. `cargo ci --long` always repeats it, because advisories appear without a change here.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::Ci;
use crate::sha256;

/// Release of cargo-deny that reads the format of `deny.toml`.
const VERSION: &str = "0.20.2";

/// Hash of the files that passed.
const CHECKED: &str = "xtask/deny-checked.txt";
/// The files on which the answer depends.
const INPUTS: [&str; 2] = ["Cargo.lock", "deny.toml"];

/// Runs all checks, unless the same files have passed. The check of advisories is listed as skipped
/// where their database cannot be had.
pub(super) fn check(ci: &mut Ci<'_>) -> Result<()> {
    let hash = hash_of_inputs(ci.root)?;
    let checked = std::fs::read_to_string(ci.root.join(CHECKED)).unwrap_or_default();
    if !ci.long && checked.trim() == hash {
        println!("Cargo.lock and deny.toml are as they were when they passed");
        return Ok(());
    }
    run(ci)?;
    std::fs::write(ci.root.join(CHECKED), format!("{hash}\n")).context(CHECKED)
}

/// Returns the hash of the files one after the other.
fn hash_of_inputs(root: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    for file in INPUTS {
        bytes.extend(std::fs::read(root.join(file)).context(file)?);
    }
    Ok(sha256::hex(&bytes))
}

fn run(ci: &mut Ci<'_>) -> Result<()> {
    let deny = installed(ci)?;
    let run = |checks: &[&str]| {
        let mut command = Command::new(&deny);
        command.current_dir(ci.root).args(["--locked", "--color", "never", "check"]).args(checks);
        command
    };
    let status = run(&["licenses", "bans", "sources"]).status().context("cargo-deny")?;
    if !status.success() {
        bail!("cargo-deny found what deny.toml forbids");
    }
    let output = run(&["advisories"]).output().context("cargo-deny")?;
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        println!("advisories ok");
    } else if is_unreachable(&talk) {
        ci.skipped.push("deny advisories: the database of advisories cannot be fetched from here".to_owned());
    } else {
        println!("{talk}");
        bail!("an advisory speaks about a dependency");
    }
    Ok(())
}

/// Returns whether cargo-deny failed because its advisory database is missing.
fn is_unreachable(talk: &str) -> bool {
    talk.contains("failed to fetch advisory database") || talk.contains("failed to load advisory database")
}

fn installed(ci: &Ci<'_>) -> Result<PathBuf> {
    let tools = wavetank_bench::programs::target_folder(ci.root).join("tools");
    let deny = tools.join("bin").join("cargo-deny");
    if !deny.is_file() {
        println!("building cargo-deny {VERSION} (once)");
        let place = tools.to_str().context("the path of target/tools is not UTF-8")?;
        ci.cargo(&["install", "cargo-deny", "--version", VERSION, "--locked", "--debug", "--root", place])?;
    }
    Ok(deny)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_lock_file_has_another_hash() {
        let folder = tempfile::tempdir().expect("a folder");
        let hash = |lock: &str| {
            std::fs::write(folder.path().join("Cargo.lock"), lock).expect("a file");
            std::fs::write(folder.path().join("deny.toml"), "[bans]").expect("a file");
            hash_of_inputs(folder.path()).expect("two files")
        };
        assert_ne!(hash("a"), hash("b"));
        // The same as of `cat Cargo.lock deny.toml | sha256sum`.
        assert_eq!(hash(""), "785f67cfeff9181ae26d66b89947eba613177216207949a0b872ccc11201c76b");
    }

    #[test]
    fn an_advisory_is_no_missing_database() {
        assert!(is_unreachable("[ERROR] failed to fetch advisory database https://…"));
        assert!(!is_unreachable("error[vulnerability]: a bug\n ┌ Cargo.lock:1:1"));
    }
}
