//! Files of the repository, for the tests of all readers of user-written files.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::path::{Path, PathBuf};

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A path below the tests of the crate that is tested.
pub(crate) fn of_tests(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(path)
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

/// The texts of all files with this extension.
pub(crate) fn texts_in(folder: &Path, extension: &str) -> Vec<String> {
    let read = |name: String| std::fs::read_to_string(folder.join(name)).ok();
    names_in(folder, extension).into_iter().filter_map(read).collect()
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
