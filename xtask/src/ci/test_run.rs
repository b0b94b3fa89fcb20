//! All tests of the workspace, with their closing lines added up.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use super::Ci;

/// What the test runner said about all its programs together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) passed: u64,
    pub(super) failed: u64,
}

/// Runs every test, also after one has failed, with the release build as the binary under test: what is claimed
/// about time is claimed about that one.
pub(super) fn run(ci: &mut Ci<'_>) -> Result<()> {
    let mut command = ci.cargo_command(&["test", "--workspace", "--locked", "--no-fail-fast"]);
    command.env("WAVETANK_BIN", ci.wavetank()).stdout(Stdio::piped());
    let mut child = command.spawn().context("cargo cannot be started")?;
    let output = child.stdout.take().expect("stdout is piped");
    for line in BufReader::new(output).lines() {
        let line = line.context("the output of the tests")?;
        println!("{line}");
        ci.tally.add(&line);
    }
    let status = child.wait().context("cargo test")?;
    if !status.success() {
        bail!("`cargo test` ended with {status}");
    }
    if ci.tally.passed == 0 {
        bail!("no test ran");
    }
    Ok(())
}

impl Tally {
    /// Adds a closing line of one test program: `test result: ok. 12 passed; 0 failed; …`.
    fn add(&mut self, line: &str) {
        let Some(result) = line.strip_prefix("test result: ") else { return };
        let count = |what: &str| {
            let field = result.split([';', '.']).map(str::trim).find(|field| field.ends_with(what));
            field.and_then(|field| field.split(' ').next()?.parse::<u64>().ok()).unwrap_or(0)
        };
        self.passed += count(" passed");
        self.failed += count(" failed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_added_up() {
        let mut tally = Tally::default();
        for line in [
            "test a::b ... ok",
            "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s",
            "12 passed",
        ] {
            tally.add(line);
        }
        assert_eq!(tally, Tally { passed: 15, failed: 2 });
    }
}
