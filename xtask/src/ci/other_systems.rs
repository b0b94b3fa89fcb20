//! Checks that the program compiles on the systems where people write experiments and read stored
//! runs. It is checked and not linked, which needs no foreign linker.

use anyhow::Result;

use super::Ci;

/// Systems other than Linux on which `wavetank` must compile. The short form checks the first one:
/// what is missing there is nearly always missing on all of them.
const TRIPLES: [&str; 2] = ["aarch64-apple-darwin", "x86_64-pc-windows-gnu"];

/// Runs clippy for each of them. A system without an installable standard library is listed as
/// skipped.
pub(super) fn check(ci: &mut Ci<'_>) -> Result<()> {
    let count = if ci.long { TRIPLES.len() } else { 1 };
    for triple in &TRIPLES[..count] {
        if let Err(reason) = crate::targets::ensure(ci.root, triple) {
            ci.skipped.push(format!("check {triple}: {reason}"));
            continue;
        }
        ci.cargo(&["clippy", "--locked", "-p", "wavetank", "--target", triple, "--", "-D", "warnings"])?;
    }
    Ok(())
}
