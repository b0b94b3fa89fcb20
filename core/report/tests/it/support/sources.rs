//! The program's own sources, for tests that search them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every source of the program, as [`below`].
pub(crate) fn of_the_program() -> BTreeMap<String, String> {
    ["core", "io", "bin"].into_iter().flat_map(below).collect()
}

/// Returns the source at `place`, or all sources below it if it is a folder, by their paths from
/// the root and without tests.
pub(crate) fn below(place: &str) -> BTreeMap<String, String> {
    let at = root().join(place);
    let mut all = BTreeMap::new();
    if at.is_dir() {
        walk(&at, &mut all);
    } else {
        read(&at, &mut all);
    }
    all
}

fn walk(folder: &Path, into: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() && !["tests", "benches", "fuzzing", "golden"].contains(&name.as_str()) {
            walk(&path, into);
        } else if path.extension().is_some_and(|suffix| suffix == "rs") && name != "tests.rs" {
            read(&path, into);
        }
    }
}

fn read(path: &Path, into: &mut BTreeMap<String, String>) {
    let name = path.strip_prefix(root()).expect("below the root").to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{name} is gone: {error}"));
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned();
    into.insert(name, text);
}
