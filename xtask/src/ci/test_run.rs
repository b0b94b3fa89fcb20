//! All tests of the workspace, with their closing lines added up.

use std::io::{BufRead as _, BufReader};
use std::num::NonZero;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail};

use super::Ci;

/// What the test runner said about all its programs together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) passed: u64,
    pub(super) failed: u64,
}

/// Sets how many tests of one program run at a time.
const THREADS_VARIABLE: &str = "RUST_TEST_THREADS";
/// Share of the tests that may be skipped on a quiet machine.
const SKIPPED_SHARE_MAX: f64 = 0.05;
/// Share of the CPUs that other programs may use on a machine that is called quiet.
const QUIET_BUSY_MAX: f64 = 0.2;

/// Runs every test, also after one has failed. A run that skips many tests on a quiet machine
/// fails, because it shows less than it claims.
pub(super) fn run(ci: &mut Ci<'_>) -> Result<()> {
    let is_quiet = busy_share().is_some_and(|share| share <= QUIET_BUSY_MAX);
    let status = run_once(ci)?;
    if !status.success() {
        bail!("`cargo test` ended with {status}");
    }
    if ci.tally.passed == 0 {
        bail!("no test ran");
    }
    let skipped = ci.skipped_tests().len();
    if is_quiet && skipped as f64 > SKIPPED_SHARE_MAX * ci.tally.passed as f64 {
        bail!("{skipped} tests were skipped on a quiet machine, next to {} that passed", ci.tally.passed);
    }
    Ok(())
}

/// Runs the test step `times` times and prints each result; any failure fails the whole.
pub(super) fn repeat(ci: &mut Ci<'_>, times: u32) -> Result<()> {
    let mut failed_rounds = 0;
    for round in 1..=times {
        ci.tally = Tally::default();
        ci.step("test", |ci| {
            failed_rounds += u32::from(!run_once(ci)?.success());
            Ok(())
        })?;
        let Tally { passed, failed } = ci.tally;
        println!("round {round} of {times}: {passed} passed, {failed} failed");
    }
    if failed_rounds > 0 {
        bail!("the test step failed in {failed_rounds} of {times} rounds");
    }
    Ok(())
}

fn run_once(ci: &mut Ci<'_>) -> Result<ExitStatus> {
    let mut command = ci.cargo_command(&["test", "--workspace", "--locked", "--no-fail-fast"]);
    // Most tests wait for programs and clocks, so two for each CPU shorten the step.
    if std::env::var_os(THREADS_VARIABLE).is_none() {
        let cpus = std::thread::available_parallelism().map_or(1, NonZero::get);
        command.env(THREADS_VARIABLE, (2 * cpus).to_string());
    }
    let mut child = command.stdout(Stdio::piped()).spawn().context("cargo cannot be started")?;
    let output = child.stdout.take().expect("stdout is piped");
    for line in BufReader::new(output).lines() {
        let line = line.context("the output of the tests")?;
        println!("{line}");
        ci.tally.add(&line);
    }
    child.wait().context("cargo test")
}

/// Returns the share of CPU time that programs used over one second, from `/proc/stat`; `None`
/// where it cannot be read.
fn busy_share() -> Option<f64> {
    let before = cpu_ticks(&std::fs::read_to_string("/proc/stat").ok()?)?;
    Command::new("sleep").arg("1").status().ok()?;
    let after = cpu_ticks(&std::fs::read_to_string("/proc/stat").ok()?)?;
    let all = after.0.checked_sub(before.0).filter(|ticks| *ticks > 0)?;
    Some(1.0 - after.1.saturating_sub(before.1) as f64 / all as f64)
}

/// All ticks and idle ticks of the line `cpu` of `/proc/stat` (proc(5)).
fn cpu_ticks(stat: &str) -> Option<(u64, u64)> {
    let fields = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = fields.split_whitespace().filter_map(|field| field.parse().ok()).collect();
    // Guest time is part of user time already.
    let all = ticks.iter().take(8).sum();
    let idle = ticks.get(3)? + ticks.get(4)?;
    Some((all, idle))
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
    fn ticks_of_all_cpus_are_read() {
        let stat = "cpu  100 1 50 800 20 3 6 20 7 0\ncpu0 50 0 25 400 10 1 3 10 3 0\n";
        assert_eq!(cpu_ticks(stat), Some((1_000, 820)));
        assert_eq!(cpu_ticks("intr 1"), None);
    }

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
