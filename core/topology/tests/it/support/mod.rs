//! What the tests of this crate share.
#![allow(dead_code, reason = "each test binary uses its own part")]

#[path = "../../../../grammar/tests/it/common/files.rs"]
pub(crate) mod files;

use files::{names_in, root};
use wavetank_grammar::render;
use wavetank_topology::{Input, Lab, MachineFacts, Parsed, read};

/// A machine as the tests have it: two CPUs, 20,000 files, 24 GiB.
pub(crate) const MACHINE: MachineFacts =
    MachineFacts { cpus: Some(2), open_files: Some(20_000), memory_bytes: Some(24 << 30) };

/// Reads a topology file that is next to `app.conf` and to `picture.png`, which is not text.
pub(crate) fn reading(name: &str, bytes: &[u8]) -> Parsed {
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

/// The example labs as names and texts. Their experiments are next to them.
pub(crate) fn example_labs() -> Vec<(String, String)> {
    let folder = root().join("examples/labs");
    let all = names_in(&folder, "yaml").into_iter().map(|name| {
        let text = std::fs::read_to_string(folder.join(&name)).expect("the example is there");
        (name, text)
    });
    all.filter(|(_, text)| text.lines().any(|line| line.starts_with("wavetank_lab:"))).collect()
}
