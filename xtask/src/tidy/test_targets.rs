//! Rule on the tests of libraries: cargo builds and runs unit tests and documentation tests exactly
//! where there are some.
//!
//! A library without them would be compiled a second time for nothing. A library that has them, but
//! turns them off in its manifest, would lose them without a word.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::finding::Finding;

/// The tests below `src/` of each crate, by its folder.
#[derive(Debug, Default)]
pub(crate) struct LibraryTests(BTreeMap<String, TestKinds>);

/// Which tests a library has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TestKinds {
    unit: bool,
    documentation: bool,
}

impl LibraryTests {
    /// Adds a file of Rust.
    pub(crate) fn add(&mut self, path: &str, text: &str) {
        let Some((dir, _)) = path.split_once("/src/") else { return };
        let kinds = self.0.entry(dir.to_owned()).or_default();
        kinds.unit |= text.lines().any(|line| line.trim() == "#[test]");
        kinds.documentation |= has_documentation_test(text);
    }

    /// Compares with the manifests, in the output of `cargo metadata --no-deps`.
    pub(crate) fn check(&self, metadata: &str) -> Result<Vec<Finding>> {
        let metadata: Value = serde_json::from_str(metadata).context("cargo metadata")?;
        let root = metadata["workspace_root"].as_str().context("workspace_root")?;
        let mut findings = Vec::new();
        for package in metadata["packages"].as_array().context("packages")? {
            let manifest = package["manifest_path"].as_str().context("manifest_path")?;
            let manifest = manifest.trim_start_matches(root).trim_matches('/');
            let kinds = manifest.strip_suffix("/Cargo.toml").and_then(|dir| self.0.get(dir));
            let kinds = kinds.copied().unwrap_or_default();
            let targets = package["targets"].as_array().context("targets")?.iter();
            let is_library = |target: &&Value| target["kind"].as_array().is_some_and(|kind| kind[0] == "lib");
            for library in targets.filter(is_library) {
                for (key, has) in [("test", kinds.unit), ("doctest", kinds.documentation)] {
                    if library[key] != has {
                        let message = if has {
                            format!("remove `{key} = false`: the library has such tests")
                        } else {
                            format!("set `{key} = false` in [lib]: the library has no such tests")
                        };
                        findings.push(Finding::at("test-targets", manifest, 0, message));
                    }
                }
            }
        }
        Ok(findings)
    }
}

/// Returns whether a doc comment has a block of code that rustdoc runs: one without a language, or
/// in Rust.
fn has_documentation_test(text: &str) -> bool {
    let mut is_inside = false;
    for line in text.lines().map(str::trim_start) {
        let Some(comment) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else { continue };
        let Some(info) = comment.trim_start().strip_prefix("```") else { continue };
        let first = info.split(',').next().unwrap_or_default();
        if !is_inside && matches!(first, "" | "rust" | "no_run" | "should_panic" | "compile_fail") {
            return true;
        }
        is_inside = !is_inside;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(manifest: &str, text: &str, expected: &[&str]) {
        let mut tests = LibraryTests::default();
        tests.add("core/pace/src/lib.rs", "//! Pacing.\n");
        tests.add("core/pace/src/wheel.rs", text);
        tests.add("core/pace/tests/it/main.rs", "#[test]\nfn elsewhere() {}\n");
        let metadata = format!(
            r#"{{"workspace_root":"/r","packages":[{{"name":"wavetank-pace","manifest_path":"/r/core/pace/Cargo.toml",
            "targets":[{{"kind":["lib"],{manifest}}},{{"kind":["test"],"test":true,"doctest":false}}]}}]}}"#
        );
        let findings = tests.check(&metadata).expect("it can be read");
        let messages: Vec<&str> = findings.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(messages, expected, "{manifest} {text}");
    }

    #[test]
    fn tests_are_on_where_there_are_some() {
        let (both, none) = (r#""test":true,"doctest":true"#, r#""test":false,"doctest":false"#);
        let unit = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {}\n}\n";
        let documentation = "/// ```\n/// assert!(true);\n/// ```\nfn a() {}\n";
        let drawing = "//! ```text\n//! a\n//! ```\n";
        check(both, &format!("{documentation}{unit}"), &[]);
        check(none, drawing, &[]);
        check(none, unit, &["remove `test = false`: the library has such tests"]);
        check(none, documentation, &["remove `doctest = false`: the library has such tests"]);
        let no_use = ["test", "doctest"]
            .map(|key| format!("set `{key} = false` in [lib]: the library has no such tests"));
        check(both, drawing, &no_use.each_ref().map(String::as_str));
    }
}
