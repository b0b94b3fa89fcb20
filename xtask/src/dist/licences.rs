//! Writes `THIRD-PARTY.txt`: the crates inside the binaries and their licences. Most licences
//! require their text next to a binary.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use super::arch::Arch;
use super::program;

/// How names of files begin that hold terms.
const NAMES: [&str; 6] = ["license", "licence", "copying", "notice", "copyright", "unlicense"];

/// Linked parts that are not crates, so no crate folder describes them.
const RUNTIME: &str = "\
Rust's standard library (MIT OR Apache-2.0): Copyright (c) The Rust Project Contributors
musl's C library (MIT): Copyright (c) 2005-2020 Rich Felker, et al.
The texts of both licences are next to this file: LICENSE-MIT (with these copyright lines) and LICENSE-APACHE.
";

/// The whole text for the binaries of `built`.
pub(super) fn third_party(root: &Path, built: &[(Arch, PathBuf)]) -> Result<String> {
    let mut inside = BTreeSet::new();
    for (arch, _) in built {
        let arguments = ["tree", "--locked", "--package", "wavetank", "--prefix", "none"];
        let mut command = program::cargo(root);
        command.args(arguments).args([
            "--edges",
            "normal,no-proc-macro",
            "--format",
            "{p}",
            "--target",
            &arch.triple(),
        ]);
        inside.extend(program::output(&mut command)?.lines().filter_map(name_and_version));
    }
    let arguments = ["metadata", "--locked", "--format-version", "1"];
    let metadata = program::output(program::cargo(root).args(arguments))?;
    let metadata: Value = serde_json::from_str(&metadata).context("cargo metadata")?;
    let mut crates = Vec::new();
    for package in metadata["packages"].as_array().context("packages")? {
        let text = |name: &str| package[name].as_str().unwrap_or_default().to_owned();
        let (name, version) = (text("name"), text("version"));
        // Without a source it is ours.
        if package["source"].is_null() || !inside.contains(&(name.clone(), version.clone())) {
            continue;
        }
        let folder = PathBuf::from(text("manifest_path"));
        let texts = texts(folder.parent().context("a manifest without a folder")?)?;
        crates.push(Terms { title: format!("{name} {version} ({})", text("license")), texts });
    }
    Ok(render(crates))
}

/// One crate's terms.
struct Terms {
    title: String,
    texts: Vec<String>,
}

fn render(mut crates: Vec<Terms>) -> String {
    crates.sort_by(|a, b| a.title.cmp(&b.title));
    let mut page = format!("Software inside the binaries of Wavetank, and its licences.\n\n{RUNTIME}\n");
    // Many crates carry the same text, so it appears once, under all their names.
    let mut by_text: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for one in &crates {
        page.push_str(&one.title);
        page.push('\n');
        for text in &one.texts {
            by_text.entry(text).or_default().push(&one.title);
        }
    }
    let mut groups: Vec<_> = by_text.into_iter().collect();
    groups.sort_by(|a, b| a.1.cmp(&b.1));
    for (text, titles) in groups {
        let _ = write!(page, "\n{}\n{}\n\n{}\n", "=".repeat(100), titles.join("\n"), text.trim_end());
    }
    page
}

/// Texts of the terms in a crate's folder.
fn texts(folder: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let file = entry.with_context(|| folder.display().to_string())?.path();
        let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if file.is_file() && NAMES.iter().any(|begin| name.starts_with(begin)) {
            files.push(file);
        }
    }
    files.sort();
    let read = |file: &PathBuf| {
        let bytes = std::fs::read(file).with_context(|| file.display().to_string())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    files.iter().map(read).collect()
}

/// From a line of `cargo tree`: `memchr v2.8.0` (a repeated one ends in ` (*)`).
fn name_and_version(line: &str) -> Option<(String, String)> {
    let mut words = line.split(' ');
    let name = words.next()?;
    let version = words.next()?.strip_prefix('v')?;
    Some((name.to_owned(), version.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_tree_are_read() {
        let some = |name: &str, version: &str| Some((name.to_owned(), version.to_owned()));
        assert_eq!(name_and_version("memchr v2.8.0"), some("memchr", "2.8.0"));
        assert_eq!(
            name_and_version("wavetank-plan v0.1.0 (/a/core/plan) (*)"),
            some("wavetank-plan", "0.1.0")
        );
        assert_eq!(name_and_version(""), None);
    }

    #[test]
    fn one_text_appears_once_under_all_names() {
        let crates = ["b 1 (MIT)", "a 1 (MIT)"]
            .map(|title| Terms { title: title.to_owned(), texts: vec!["terms".to_owned()] });
        let page = render(crates.into());
        assert_eq!(page.matches("\nterms\n").count(), 1, "{page}");
        assert!(page.contains("a 1 (MIT)\nb 1 (MIT)\n\nterms"), "{page}");
    }
}
