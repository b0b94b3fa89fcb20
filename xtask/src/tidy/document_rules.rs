//! Rules on texts: ARCHITECTURE.md and what no tracked file may name.

use super::finding::Finding;
use super::graph::Crate;

/// The map of the house.
pub(crate) const ARCHITECTURE: &str = "ARCHITECTURE.md";
/// Most lines of the map.
const ARCHITECTURE_LINES_MAX: usize = 300;

/// What a tracked file must not contain: paths of one machine, and hosts of package registries.
/// Each is written in two halves so that this file passes its own rule.
const PRIVATE: [(&str, &str); 12] = [
    (concat!("/wo", "rk/"), "a path of one machine"),
    (concat!("/ro", "ot/"), "a path of one machine"),
    (concat!("/tmp/", "bash"), "a path of one machine"),
    (concat!("/tmp/", "t-"), "a path of one machine"),
    (concat!("index.", "crates.io"), "a registry's host"),
    (concat!("static.", "crates.io"), "a registry's host"),
    (concat!("deb.", "debian.org"), "a registry's host"),
    (concat!("security.", "debian.org"), "a registry's host"),
    (concat!("registry.", "npmjs.org"), "a registry's host"),
    (concat!("pypi", ".org"), "a registry's host"),
    (concat!("proxy.", "golang.org"), "a registry's host"),
    (concat!("repo.", "maven.apache.org"), "a registry's host"),
];

/// Whether the map names every crate and stays readable.
pub(crate) fn check_architecture(text: &str, crates: &[Crate]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let lines = text.lines().count();
    if lines > ARCHITECTURE_LINES_MAX {
        let message = format!("{lines} lines; at most {ARCHITECTURE_LINES_MAX}");
        findings.push(Finding::at("architecture", ARCHITECTURE, 0, message));
    }
    for one in crates {
        if !text.contains(&format!("`{}`", one.dir)) {
            let message = format!("does not name the crate `{}`", one.dir);
            findings.push(Finding::at("architecture", ARCHITECTURE, 0, message));
        }
    }
    findings
}

/// Names of one machine in a tracked text.
pub(crate) fn check_private(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for (name, what) in PRIVATE {
            if line.contains(name) {
                findings.push(Finding::at("private", path, index + 1, format!("names `{name}`, {what}")));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::graph::crates;

    fn one_crate() -> Vec<Crate> {
        let metadata = r#"{"workspace_root":"/r","packages":[
            {"name":"wavetank-plan","manifest_path":"/r/core/plan/Cargo.toml","dependencies":[]}]}"#;
        crates(metadata).expect("is metadata")
    }

    #[test]
    fn the_map_names_every_crate_and_is_short() {
        assert!(check_architecture("- `core/plan`: the plan\n", &one_crate()).is_empty());
        assert_eq!(check_architecture("- core: all of it\n", &one_crate()).len(), 1);
        let long = format!("`core/plan`\n{}", "x\n".repeat(ARCHITECTURE_LINES_MAX));
        assert_eq!(check_architecture(&long, &one_crate()).len(), 1);
    }

    #[test]
    fn no_file_names_a_machine() {
        for (name, _) in PRIVATE {
            let text = format!("fine\nsee {name}x here\n");
            let found = check_private("README.md", &text);
            assert_eq!(found.iter().map(|finding| finding.line).collect::<Vec<_>>(), [2], "{name}");
        }
        assert!(check_private("README.md", "a network, framework/ and /tmp of a user\n").is_empty());
    }
}
