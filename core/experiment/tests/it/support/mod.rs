//! What the tests of this crate share.
#![allow(dead_code, reason = "each test binary uses its own part")]

#[path = "../../../../grammar/tests/it/common/files.rs"]
pub(crate) mod files;
pub(crate) mod packages;
pub(crate) mod plans;

use files::{names_in, root};
use wavetank_experiment::{ParseInput, Parsed, read};
use wavetank_plan::RunOptions;

/// Reads a file with a small environment (`HOME_URL`) and one secret (`PASSWORD`).
pub(crate) fn reading(name: &str, bytes: &[u8], set: &[(&str, &str)]) -> Parsed {
    let set: Vec<(String, String)> =
        set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    read(&ParseInput {
        name,
        bytes,
        set: &set,
        env: &|name| (name == "HOME_URL").then(|| "http://127.0.0.1:8080".to_owned()),
        has_secret: &|name| name == "PASSWORD",
        options: &RunOptions::default(),
    })
}

/// File names under `examples/`, sorted.
pub(crate) fn example_names() -> Vec<String> {
    names_in(&root().join("examples"), "yaml")
}

/// The text of an example.
pub(crate) fn example_text(name: &str) -> String {
    std::fs::read_to_string(root().join("examples").join(name)).expect("the example is there")
}
