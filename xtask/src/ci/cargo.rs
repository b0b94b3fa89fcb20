//! How `cargo ci` calls cargo.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

/// Lets cargo compile the workspace by the driver of clippy, as `cargo clippy` does.
pub(super) fn compile_with_clippy(cargo: &mut Command) {
    // Next to cargo in each toolchain; otherwise where the shell finds it.
    let driver = PathBuf::from(cargo_program()).with_file_name("clippy-driver");
    let driver = if driver.is_file() { driver } else { "clippy-driver".into() };
    cargo.env("RUSTC_WORKSPACE_WRAPPER", driver);
    // The arguments after `--` of `cargo clippy`, in the form in which it passes them on.
    cargo.env("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
}

/// The cargo that runs this program.
pub(super) fn cargo_program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Runs a command of cargo.
pub(super) fn run_cargo(mut command: Command) -> Result<()> {
    let status = command.status().context("cargo cannot be started")?;
    if !status.success() {
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
        bail!("`cargo {}` ended with {status}", words.join(" "));
    }
    Ok(())
}
