//! What the tests of this crate share.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub(crate) mod plans;

use std::path::{Path, PathBuf};

use wavetank_experiment::{Input, Reading, read};
use wavetank_plan::RunOptions;

/// Reads a file with a small environment (`HOME_URL`) and one secret (`PASSWORD`).
pub(crate) fn reading(name: &str, bytes: &[u8], set: &[(&str, &str)]) -> Reading {
    let set: Vec<(String, String)> =
        set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    read(&Input {
        name,
        bytes,
        set: &set,
        env: &|name| (name == "HOME_URL").then(|| "http://127.0.0.1:8080".to_owned()),
        has_secret: &|name| name == "PASSWORD",
        options: &RunOptions::default(),
    })
}

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// File names under `examples/`, sorted.
pub(crate) fn example_names() -> Vec<String> {
    names_in(&root().join("examples"), "yaml")
}

/// Names of files with this extension, sorted; never none.
pub(crate) fn names_in(folder: &Path, extension: &str) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name"))
        .filter(|name| Path::new(name).extension().is_some_and(|own| own == extension))
        .collect();
    names.sort();
    assert!(!names.is_empty(), "{} has no .{extension}", folder.display());
    names
}

/// The text of an example.
pub(crate) fn example_text(name: &str) -> String {
    std::fs::read_to_string(root().join("examples").join(name)).expect("the example is there")
}

/// Compares `actual` with the file at `path`; `WAVETANK_GOLDEN=update` writes it instead.
pub(crate) fn golden_at(path: &Path, actual: &str) {
    if std::env::var_os("WAVETANK_GOLDEN").is_some_and(|value| value == "update") {
        std::fs::write(path, actual).expect("the golden can be written");
        return;
    }
    let expected =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(actual, expected, "{} differs; if that is meant: WAVETANK_GOLDEN=update", path.display());
}
