//! The fuzz targets compile. They run only with cargo-fuzz and a nightly compiler.

use anyhow::{Context, Result, bail};

use super::Ci;

/// Checks the workspace of the fuzz targets with the features of a nightly compiler.
pub(super) fn check(ci: &mut Ci<'_>) -> Result<()> {
    let folder = wavetank_bench::programs::target_folder(ci.root).join("fuzz-check");
    let status = ci
        .cargo_command(&["check", "--manifest-path", "fuzz/Cargo.toml", "--bins"])
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", folder)
        .status()
        .context("cargo cannot be started")?;
    if !status.success() {
        bail!("the fuzz targets do not compile: {status}");
    }
    Ok(())
}
