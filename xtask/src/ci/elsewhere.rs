//! The commands that only read what was stored work on the systems people write their experiments on: the
//! program must compile there. It is checked, not linked, so no foreign linker is needed.

use anyhow::Result;

use super::Ci;

/// Systems beside Linux on which `wavetank` must compile.
const ELSEWHERE: [&str; 2] = ["aarch64-apple-darwin", "x86_64-pc-windows-gnu"];

/// Checks the program for each of them with clippy's eyes; one that cannot be had is listed as skipped.
pub(super) fn check(ci: &mut Ci<'_>) -> Result<()> {
    for triple in ELSEWHERE {
        if let Err(reason) = crate::targets::ensure(ci.root, triple) {
            ci.skipped.push(format!("check {triple}: {reason}"));
            continue;
        }
        ci.cargo(&["clippy", "--locked", "-p", "wavetank", "--target", triple, "--", "-D", "warnings"])?;
    }
    Ok(())
}
