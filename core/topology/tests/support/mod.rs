//! What the tests of this crate share.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::path::{Path, PathBuf};

use wavetank_experiment::render;
use wavetank_topology::{Input, Lab, Machine, Reading, read};

/// A machine as the tests have it: two CPUs, 20,000 files, 24 GiB.
pub(crate) const MACHINE: Machine =
    Machine { cpus: Some(2), open_files: Some(20_000), memory_bytes: Some(24 << 30) };

/// Reads a topology file beside which `app.conf` lies, and `picture.png`, which is no text.
pub(crate) fn reading(name: &str, bytes: &[u8]) -> Reading {
    let files = |name: &str| match name {
        "app.conf" => Ok(b"listen 8080;\n".to_vec()),
        "picture.png" => Ok(vec![0x89, b'P', b'N', b'G']),
        _ => Err("there is no such file".to_owned()),
    };
    read(&Input { name, bytes, files: &files, machine: MACHINE })
}

/// The lab of a file that must be right.
#[track_caller]
pub(crate) fn lab(text: &str) -> Lab {
    let reading = reading("lab.yaml", text.as_bytes());
    let shown = render(&reading.diagnostics, "lab.yaml", &reading.text);
    reading.lab.unwrap_or_else(|| panic!("{shown}"))
}

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
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

/// The labs that ship: name and text. Experiments lie beside them.
pub(crate) fn example_labs() -> Vec<(String, String)> {
    let folder = root().join("examples/labs");
    let all = names_in(&folder, "yaml").into_iter().map(|name| {
        let text = std::fs::read_to_string(folder.join(&name)).expect("the example is there");
        (name, text)
    });
    all.filter(|(_, text)| text.lines().any(|line| line.starts_with("wavetank_lab:"))).collect()
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
