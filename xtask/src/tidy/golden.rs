//! The rule on stored formats: a golden changes only together with the page that describes its
//! format.
//!
//! `core/record/tests/golden/HASHES` keeps the SHA-256 that each golden and each page had when both
//! were last in step. A golden that differs while every page is unchanged is a format that changed
//! without its description. `cargo xtask golden` writes the file again once a page was changed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Result, bail};

use super::finding::Finding;
use crate::sha256;

/// Folder of the goldens of the stored formats.
pub(crate) const GOLDEN_DIR: &str = "core/record/tests/golden/";
/// Folder of the goldens of the fleet's messages and journal.
pub(crate) const FLEET_GOLDEN_DIR: &str = "core/fleet/tests/golden/";
/// The hashes, next to the goldens.
pub(crate) const HASHES: &str = "core/record/tests/golden/HASHES";
/// Pages that describe formats.
pub(crate) const FORMATS_DIR: &str = "docs/formats/";

/// Path → content of goldens and pages.
pub(crate) type Texts = BTreeMap<String, Vec<u8>>;

/// Whether a tracked file takes part in the rule.
pub(crate) fn concerns(path: &str) -> bool {
    path != HASHES && [GOLDEN_DIR, FLEET_GOLDEN_DIR, FORMATS_DIR].iter().any(|dir| path.starts_with(dir))
}

/// Goldens out of step with their description. `recorded` is the text of [`HASHES`], if it exists.
pub(crate) fn check(texts: &Texts, recorded: Option<&str>) -> Vec<Finding> {
    if !texts.keys().any(|path| path.starts_with(GOLDEN_DIR)) {
        return Vec::new();
    }
    let breach = |path: &str, message: &str| vec![Finding::at("golden", path, 0, message)];
    let Some(recorded) = recorded else {
        return breach(HASHES, "missing: describe the format in docs/formats/, then `cargo xtask golden`");
    };
    let (changed, pages_changed) = changes(texts, recorded);
    match (changed.first(), pages_changed) {
        (None, false) => Vec::new(),
        (Some(golden), false) => {
            breach(golden, "changed, but no page in docs/formats/: describe the change there")
        }
        (_, true) => {
            breach(HASHES, "a page changed: `cargo xtask golden` records that goldens are in step with it")
        }
    }
}

/// The new text of [`HASHES`]; refused where goldens changed and no page did.
pub(crate) fn record(texts: &Texts, recorded: Option<&str>) -> Result<String> {
    if !texts.keys().any(|path| path.starts_with(FORMATS_DIR)) {
        bail!("no page in {FORMATS_DIR} describes the goldens");
    }
    if let Some(recorded) = recorded
        && let (changed, false) = changes(texts, recorded)
        && let Some(golden) = changed.first()
    {
        bail!("{golden} changed, but no page in {FORMATS_DIR} did: describe the change there first");
    }
    let mut text = String::new();
    for (path, content) in texts {
        writeln!(text, "{} {path}", sha256::hex(content)).expect("writing to a string cannot fail");
    }
    Ok(text)
}

/// Goldens that differ from the record, and whether any page does. Added and removed files differ.
fn changes(texts: &Texts, recorded: &str) -> (Vec<String>, bool) {
    let then: BTreeMap<&str, &str> =
        recorded.lines().filter_map(|line| line.split_once(' ')).map(|(hash, path)| (path, hash)).collect();
    let now: BTreeMap<&str, String> =
        texts.iter().map(|(path, content)| (path.as_str(), sha256::hex(content))).collect();
    let differs = |path: &&str| then.get(*path).copied() != now.get(*path).map(String::as_str);
    let mut paths: Vec<&str> = then.keys().chain(now.keys()).copied().collect();
    paths.sort_unstable();
    paths.dedup();
    let (pages, goldens): (Vec<&str>, Vec<&str>) =
        paths.into_iter().filter(differs).partition(|path| path.starts_with(FORMATS_DIR));
    (goldens.into_iter().map(str::to_owned).collect(), !pages.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOLDEN: &str = "core/record/tests/golden/run.json";
    const PAGE: &str = "docs/formats/run.md";

    fn texts(golden: &str, page: &str) -> Texts {
        [(GOLDEN, golden), (PAGE, page)]
            .map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()))
            .into_iter()
            .collect()
    }

    #[test]
    fn a_golden_changes_only_with_its_page() {
        let recorded = record(&texts("1", "one"), None).expect("first record");
        let check_now = |golden, page| check(&texts(golden, page), Some(&recorded)).len();
        assert_eq!(check_now("1", "one"), 0);
        assert_eq!(check_now("2", "one"), 1);
        assert_eq!(check_now("2", "two"), 1, "until it is recorded");
        assert!(record(&texts("2", "one"), Some(&recorded)).is_err());
        let again = record(&texts("2", "two"), Some(&recorded)).expect("page was touched");
        assert!(check(&texts("2", "two"), Some(&again)).is_empty());
    }

    #[test]
    fn goldens_without_record_or_page_are_found_and_no_goldens_are_fine() {
        assert_eq!(check(&texts("1", "one"), None).len(), 1);
        assert!(check(&Texts::new(), None).is_empty());
        let only_golden: Texts = [(GOLDEN.to_owned(), vec![b'1'])].into_iter().collect();
        assert!(record(&only_golden, None).is_err());
    }

    #[test]
    fn a_golden_removed_or_added_counts_as_changed() {
        let recorded = record(&texts("1", "one"), None).expect("first record");
        let mut more = texts("1", "one");
        more.insert(format!("{GOLDEN_DIR}new.json"), vec![b'3']);
        assert_eq!(check(&more, Some(&recorded)).len(), 1);
    }
}
