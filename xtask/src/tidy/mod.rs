//! `cargo xtask tidy`: the project's rules that the compiler does not know. They run in `cargo
//! test` as well, because style that is not a test decays.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

mod allow;
mod banned_paths;
mod comments;
mod document_rules;
mod finding;
mod golden;
mod graph;
mod lengths;
mod modules;
mod names;
mod prose;
mod source;
mod test_targets;

use allow::{ALLOW_FILE, AllowList};
use finding::Finding;
use source::{Source, is_rust};

/// Checks the repository at `root`; the breaches in order of rule and place.
pub(crate) fn run(root: &Path) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    let mut goldens = golden::Texts::new();
    let mut imports = modules::Imports::default();
    let mut counts = prose::Counts::default();
    let mut library_tests = test_targets::LibraryTests::default();
    let (mut language, mut names) = (Vec::new(), Vec::new());
    let files = tracked_files(root)?;
    for path in &files {
        let Ok(bytes) = std::fs::read(root.join(path)) else { continue };
        if golden::concerns(path) {
            goldens.insert(path.clone(), bytes.clone());
        }
        let Ok(text) = String::from_utf8(bytes) else { continue };
        if path != "Cargo.lock" {
            findings.extend(document_rules::check_private(path, &text));
        }
        if prose::concerns(path) {
            language.extend(prose::check(path, &text, &mut counts));
        }
        if is_rust(path) {
            let source = Source::parse(path, &text)?;
            findings.extend(banned_paths::check(&source));
            findings.extend(lengths::check(&source));
            names.extend(names::check(&source));
            imports.add(&source);
            library_tests.add(path, &text);
        }
    }
    findings.extend(modules::check_style(&files));
    findings.extend(imports.check());
    let recorded_counts =
        std::fs::read_to_string(root.join(prose::COUNTS_FILE)).context(prose::COUNTS_FILE)?;
    findings.extend(prose::check_remaining(language, &recorded_counts)?);
    findings.extend(prose::check_counts(&counts, &recorded_counts)?);
    findings.extend(names::check_remaining(names, &recorded_counts)?);
    let metadata = metadata(root)?;
    findings.extend(library_tests.check(&metadata)?);
    let crates = graph::crates(&metadata)?;
    findings.extend(graph::check(&crates));
    let map = std::fs::read_to_string(root.join(document_rules::ARCHITECTURE)).unwrap_or_default();
    findings.extend(document_rules::check_architecture(&map, &crates));
    findings.extend(golden::check(&goldens, recorded(root).as_deref()));
    let allowed = std::fs::read_to_string(root.join(ALLOW_FILE)).context(ALLOW_FILE)?;
    let mut left = AllowList::parse(&allowed)?.apply(findings);
    left.sort_by(|a, b| (a.rule, &a.subject, a.line).cmp(&(b.rule, &b.subject, b.line)));
    Ok(left.iter().map(Finding::to_string).collect())
}

/// Records that goldens and the pages about them are in step (`cargo xtask golden`).
pub(crate) fn record_goldens(root: &Path) -> Result<()> {
    let mut texts = golden::Texts::new();
    for path in tracked_files(root)?.into_iter().filter(|path| golden::concerns(path)) {
        if let Ok(bytes) = std::fs::read(root.join(&path)) {
            texts.insert(path, bytes);
        }
    }
    let text = golden::record(&texts, recorded(root).as_deref())?;
    std::fs::write(root.join(golden::HASHES), text).context(golden::HASHES)
}

fn recorded(root: &Path) -> Option<String> {
    std::fs::read_to_string(root.join(golden::HASHES)).ok()
}

/// Files that are or would be committed: tracked, or new and not ignored.
fn tracked_files(root: &Path) -> Result<Vec<String>> {
    let arguments = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
    let output = Command::new("git").args(arguments).current_dir(root).output().context("git ls-files")?;
    if !output.status.success() {
        bail!("git ls-files: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8(output.stdout).context("a file name that is not UTF-8")?;
    let files: Vec<String> = text.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    if files.is_empty() {
        bail!("git names no file: nothing would be checked");
    }
    Ok(files)
}

fn metadata(root: &Path) -> Result<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["metadata", "--no-deps", "--format-version", "1"];
    let output = Command::new(cargo).args(arguments).current_dir(root).output().context("cargo metadata")?;
    if !output.status.success() {
        bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8(output.stdout).context("cargo metadata")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_house_is_tidy() {
        let findings = super::run(&crate::root()).expect("the rules can be checked");
        assert!(findings.is_empty(), "{} breaches:\n{}", findings.len(), findings.join("\n"));
    }
}
