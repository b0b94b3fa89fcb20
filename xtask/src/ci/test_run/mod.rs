//! All tests of the workspace, several programs at a time, with their closing lines added up.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use super::Ci;
use super::cargo::compile_with_clippy;
use lanes::Finished;
use program::{Ended, Selection, TestProgram};

mod lanes;
mod program;

/// What the test runner said about all its programs together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) passed: u64,
    pub(super) failed: u64,
}

/// Sets how many tests of one program run at a time.
const THREADS_VARIABLE: &str = "RUST_TEST_THREADS";
/// Tests of one program that run at a time, for each CPU. Two programs share the CPUs.
const THREADS_PER_CPU: usize = 1;
/// The same for end-to-end tests, which mostly wait for programs and clocks (measured: 367 s of CPU
/// time in 1,800 s of tests).
const END_TO_END_THREADS_PER_CPU: usize = 4;
/// Programs that run at a time, except for the end-to-end tests.
const LANES: usize = 2;
/// The end-to-end tests, the program with the most work. It runs alone: next to other programs its
/// loads were late on a machine with steal.
const END_TO_END: &str = "tests/it/main.rs (wavetank)";
/// The end-to-end tests that compare times with a known truth, or have deadlines that others chose.
/// They run by themselves, one per CPU: in a crowd, too many of them found the machine too noisy to
/// judge.
const PRECISE: [&str; 2] = ["truth_delays::", "grpc_conformance::"];
/// How many programs the list of the slowest has.
const SLOWEST: usize = 8;
/// Share of the tests that may be skipped on a quiet machine.
const SKIPPED_SHARE_MAX: f64 = 0.05;
/// Share of the CPUs that other programs may use on a machine that is called quiet.
const QUIET_BUSY_MAX: f64 = 0.2;

/// Runs every test, also after one has failed. A run that skips many tests on a quiet machine
/// fails, because it shows less than it claims.
pub(super) fn run(ci: &mut Ci<'_>) -> Result<()> {
    let is_quiet = busy_share().is_some_and(|share| share <= QUIET_BUSY_MAX);
    let failed = run_once(ci)?;
    if !failed.is_empty() {
        bail!("tests failed: {}", failed.join(", "));
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
    let mut always_skipped: Option<BTreeSet<String>> = None;
    for round in 1..=times {
        ci.tally = Tally::default();
        std::fs::write(&ci.skips, "").with_context(|| ci.skips.display().to_string())?;
        ci.step("test", |ci| {
            failed_rounds += u32::from(!run_once(ci)?.is_empty());
            Ok(())
        })?;
        let Tally { passed, failed } = ci.tally;
        let skipped: BTreeSet<String> = ci
            .skipped_tests()
            .iter()
            .filter_map(|line| line.split_once(": "))
            .map(|(test, _)| test.to_owned())
            .collect();
        println!("round {round} of {times}: {passed} passed, {failed} failed, {} skipped", skipped.len());
        always_skipped = Some(always_skipped.map_or_else(|| skipped.clone(), |all| &all & &skipped));
    }
    // A test that is always skipped as not judgeable may hide that it always fails.
    for test in always_skipped.into_iter().flatten() {
        println!("skipped in every round: {test}");
    }
    if failed_rounds > 0 {
        bail!("the test step failed in {failed_rounds} of {times} rounds");
    }
    Ok(())
}

/// Runs every test once. Returns the names of the programs that failed.
fn run_once(ci: &mut Ci<'_>) -> Result<Vec<String>> {
    let programs = programs(ci)?;
    let mut tally = ci.tally;
    let (mut failed, mut times) = (Vec::new(), Vec::new());
    let mut report = |Finished { program, ended, took }: Finished| {
        println!("\n     Ran {}\n{}", program.name(), ended.output.trim_end());
        ended.output.lines().for_each(|line| tally.add(line));
        if !ended.status.success() {
            println!("{} ended with {}", program.name(), ended.status);
            failed.push(program.name());
        }
        times.push((took, program.name()));
    };
    let (end_to_end, others): (Vec<_>, Vec<_>) =
        programs.into_iter().partition(|program| program.name() == END_TO_END);
    let halves = [Selection::Only(&PRECISE), Selection::Without(&PRECISE)];
    let end_to_end = end_to_end.iter().flat_map(|program| halves.map(|half| program.select(half))).collect();
    lanes::run_all(end_to_end, 1, |program| run_program(ci, program), &mut report)?;
    lanes::run_all(others, LANES, |program| run_program(ci, program), report)?;
    ci.tally = tally;
    times.sort_by(|a, b| b.cmp(a));
    println!("\nslowest programs of tests:");
    for (took, name) in times.iter().take(SLOWEST) {
        println!("{:>9.1} s  {name}", took.as_secs_f64());
    }
    Ok(failed)
}

/// Builds all tests and returns their programs in the order in which they start.
fn programs(ci: &Ci<'_>) -> Result<Vec<TestProgram>> {
    let mut command = ci.cargo_command(&["test", "--workspace", "--locked", "--no-run"]);
    compile_with_clippy(&mut command);
    command.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
    let output = command.output().context("cargo cannot be started")?;
    if !output.status.success() {
        bail!("the tests do not build: {}", output.status);
    }
    let messages = String::from_utf8(output.stdout).context("the messages of cargo")?;
    let mut programs: Vec<_> = messages.lines().filter_map(TestProgram::from_message).collect();
    ensure!(!programs.is_empty(), "cargo built no tests");
    programs.push(TestProgram::documentation(ci.root));
    Ok(programs)
}

/// Runs one program. Its output is printed when it ends; a test that failed or takes long is
/// printed immediately.
fn run_program(ci: &Ci<'_>, program: &TestProgram) -> Result<Ended> {
    let mut command = program.command();
    ci.set_environment(&mut command);
    if std::env::var_os(THREADS_VARIABLE).is_none() {
        let cpus = std::thread::available_parallelism().map_or(1, NonZero::get);
        let is_crowd = program.name() == END_TO_END && !program.runs_only();
        let per_cpu = if is_crowd { END_TO_END_THREADS_PER_CPU } else { THREADS_PER_CPU };
        command.env(THREADS_VARIABLE, (per_cpu * cpus).to_string());
    }
    println!("     Running {}", program.name());
    program::run(command, |line| {
        if line.ends_with(" ... FAILED") || line.ends_with("has been running for over 60 seconds") {
            println!("{line}");
        }
    })
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
