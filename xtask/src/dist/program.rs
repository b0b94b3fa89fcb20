//! Running other programs.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Cargo, in the repository.
pub(super) fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    command
}

/// Runs to the end; its stdout. An error holds what it said on stderr.
pub(super) fn output(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("{name} cannot be started"))?;
    let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
    ensure!(
        output.status.success(),
        "`{name} {}` ended with {}: {}",
        words.join(" "),
        output.status,
        String::from_utf8_lossy(&output.stderr).trim()
    );
    String::from_utf8(output.stdout).with_context(|| format!("the output of {name} is not UTF-8"))
}
