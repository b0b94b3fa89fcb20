//! Checks licences, bans and sources of every dependency with cargo-deny, which is built once into
//! `target/tools`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::Ci;

/// Release of cargo-deny that reads the format of `deny.toml`.
const VERSION: &str = "0.20.2";

/// Runs all checks; the one of advisories is listed as skipped where their database cannot be had.
pub(super) fn check(ci: &mut Ci<'_>) -> Result<()> {
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
    fn an_advisory_is_no_missing_database() {
        assert!(is_unreachable("[ERROR] failed to fetch advisory database https://…"));
        assert!(!is_unreachable("error[vulnerability]: a bug\n ┌ Cargo.lock:1:1"));
    }
}
