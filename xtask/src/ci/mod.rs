//! `cargo ci`: everything that must hold before a change lands, in one command.
//!
//! Steps run in order, the first failure stops. A test that cannot run here (no root, no namespaces, a program
//! missing) appends a line `name: reason` to the file named by the environment variable `WAVETANK_SKIPS`, if set,
//! and returns; the lines are printed at the end, so that nothing is silently green.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::stopwatch::Stopwatch;
use test_run::Tally;

mod axe;
mod deny;
mod elsewhere;
mod packages;
mod test_run;

pub(crate) use packages::find as find_program;

/// Names the file to which tests that cannot run here append `name: reason`.
const SKIPS_VARIABLE: &str = "WAVETANK_SKIPS";

/// Runs all steps; an error names the step that failed.
pub(crate) fn run(root: &Path) -> Result<()> {
    let folder = crate::target_folder(root);
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let skips = folder.join("skipped-tests.txt");
    std::fs::write(&skips, "").with_context(|| skips.display().to_string())?;
    let mut ci = Ci {
        root,
        skips,
        watch: Stopwatch::start(),
        done: Vec::new(),
        skipped: Vec::new(),
        tally: Tally::default(),
    };
    let outcome = ci.steps();
    ci.summary();
    outcome
}

/// One run of the checks.
struct Ci<'a> {
    root: &'a Path,
    /// Where tests say what they skipped.
    skips: PathBuf,
    watch: Stopwatch,
    done: Vec<(&'static str, Duration)>,
    /// What was left out, with the reason.
    skipped: Vec<String>,
    tally: Tally,
}

impl Ci<'_> {
    fn steps(&mut self) -> Result<()> {
        self.step("packages", packages::install)?;
        self.step("axe-core", axe::fetch)?;
        self.step("fmt", |ci| ci.cargo(&["fmt", "--all", "--check"]))?;
        self.step("tidy", |_| crate::tidy())?;
        self.step("clippy", |ci| {
            ci.cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])
        })?;
        self.step("elsewhere", elsewhere::check)?;
        self.step("deny", deny::check)?;
        self.step("build", |ci| ci.cargo(&["build", "--release", "--locked", "-p", "wavetank"]))?;
        self.step("test", test_run::run)?;
        self.step("dist", |ci| {
            ci.skipped.extend(crate::dist::in_ci(ci.root)?);
            Ok(())
        })?;
        self.step("instructions", |ci| {
            ci.skipped.extend(crate::instructions::in_ci(ci.root)?);
            Ok(())
        })?;
        self.step("bench", |ci| {
            ci.skipped.extend(crate::bench::smoke(ci.root)?);
            Ok(())
        })?;
        Ok(())
    }

    fn step(&mut self, name: &'static str, work: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        println!("\n== {name}");
        let watch = Stopwatch::start();
        let outcome = work(self);
        let took = watch.elapsed();
        self.done.push((name, took));
        match outcome {
            Ok(()) => {
                println!("== {name}: ok, {:.1} s", took.as_secs_f64());
                Ok(())
            }
            Err(error) => {
                bail!("cargo ci failed at {name} after {:.1} s: {error:#}", took.as_secs_f64())
            }
        }
    }

    /// Runs cargo with its output going where ours goes.
    fn cargo(&self, arguments: &[&str]) -> Result<()> {
        let status = self.cargo_command(arguments).status().context("cargo cannot be started")?;
        if !status.success() {
            bail!("`cargo {}` ended with {status}", arguments.join(" "));
        }
        Ok(())
    }

    /// The release build of the product.
    fn wavetank(&self) -> PathBuf {
        crate::target_folder(self.root).join("release").join("wavetank")
    }

    fn cargo_command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(arguments).current_dir(self.root).env(SKIPS_VARIABLE, &self.skips);
        command
    }

    /// Where the time went and what did not run.
    fn summary(&self) {
        println!("\n== summary, {:.0} s in all", self.watch.elapsed().as_secs_f64());
        for (name, took) in &self.done {
            println!("{:>9.1} s  {name}", took.as_secs_f64());
        }
        let by_tests = std::fs::read_to_string(&self.skips).unwrap_or_default();
        let mut tests: Vec<&str> = by_tests.lines().filter(|line| !line.is_empty()).collect();
        tests.sort_unstable();
        tests.dedup();
        for line in self.skipped.iter().map(String::as_str).chain(tests.iter().copied()) {
            println!("SKIPPED {line}");
        }
        if self.tally != Tally::default() {
            // In the words that test runners close with.
            let Tally { passed, failed } = self.tally;
            println!("tests: {passed} passed, {failed} failed, {} skipped", tests.len());
        }
    }
}
