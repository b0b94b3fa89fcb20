//! `cargo ci`: everything that must hold before a change lands, in one command.
//!
//! Steps run in order, and the first failure stops the run. `cargo ci --long` adds the steps that
//! take too long for every change: distribution builds, all other systems, instruction counts,
//! every bench, and the long form of slow tests (`WAVETANK_LONG`). It takes more than an hour, so
//! a failure after the build does not stop it. A test that cannot run on this
//! machine appends a line `name: reason` to the file named by `WAVETANK_SKIPS` and returns. The
//! summary prints these lines, so that no skipped test looks like a passed one.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;

use cargo::{cargo_program, compile_with_clippy, run_cargo};
use test_run::Tally;
use wavetank_bench::stopwatch::Stopwatch;

mod axe;
mod cargo;
mod deny;
mod fuzz;
mod other_systems;
mod packages;
mod test_run;

/// Names the file to which tests that cannot run here append `name: reason`.
const SKIPS_VARIABLE: &str = "WAVETANK_SKIPS";

/// Makes tests run in their long form where it is set.
const LONG_VARIABLE: &str = "WAVETANK_LONG";

/// The seed of property tests in the short form, and the variable from which proptest reads it.
/// The short form judges a change, so it tries the same cases; the long form looks for new ones.
const PROPERTY_SEED: (&str, &str) = ("PROPTEST_RNG_SEED", "1");

/// Arguments of `cargo ci`.
#[derive(clap::Args)]
pub(crate) struct CiArguments {
    /// Add distribution builds, all other systems, instruction counts, every bench and long tests
    #[arg(long)]
    long: bool,
    /// Run the test step alone this many times; print how often it failed and what never ran
    #[arg(long, value_name = "N")]
    repeat_tests: Option<u32>,
}

/// Runs all steps; an error names the step that failed.
pub(crate) fn run(root: &Path, arguments: &CiArguments) -> Result<()> {
    let folder = wavetank_bench::programs::target_folder(root);
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let skips = folder.join("skipped-tests.txt");
    std::fs::write(&skips, "").with_context(|| skips.display().to_string())?;
    let mut ci = Ci {
        root,
        long: arguments.long,
        skips,
        watch: Stopwatch::start(),
        done: Vec::new(),
        skipped: Vec::new(),
        tally: Tally::default(),
    };
    let outcome = match arguments.repeat_tests {
        Some(times) => test_run::repeat(&mut ci, times),
        None => ci.steps(),
    };
    ci.summary();
    outcome
}

/// One run of the checks.
struct Ci<'a> {
    root: &'a Path,
    /// Whether the long steps run as well.
    long: bool,
    /// Where tests say what they skipped.
    skips: PathBuf,
    watch: Stopwatch,
    done: Vec<StepTime>,
    /// What was left out, with the reason.
    skipped: Vec<String>,
    tally: Tally,
}

/// The work of a step.
type Work = fn(&mut Ci<'_>) -> Result<()>;

/// How long a step took.
struct StepTime {
    name: &'static str,
    wall: Duration,
    /// CPU time of the step's processes. In contrast to `wall` it depends little on what else the
    /// machine does.
    cpu: Duration,
}

impl Ci<'_> {
    fn steps(&mut self) -> Result<()> {
        self.step("packages", packages::install)?;
        self.step("axe-core", axe::fetch)?;
        self.step("fmt", |ci| ci.cargo(&["fmt", "--all", "--check"]))?;
        self.step("tidy", |_| crate::tidy())?;
        self.step("deny", deny::check)?;
        self.step("build and clippy", build)?;
        self.step("other systems", other_systems::check)?;
        if self.long {
            return self.long_steps();
        }
        self.step("test", test_run::run)?;
        self.step("bench", |ci| {
            ci.skipped.extend(wavetank_bench::smoke_one(ci.root)?);
            Ok(())
        })?;
        Ok(())
    }

    /// The tests, and what `--long` adds. All steps run; an error names those that failed.
    fn long_steps(&mut self) -> Result<()> {
        let steps: [(&'static str, Work); 6] = [
            ("test", test_run::run),
            ("fuzz", fuzz::check),
            ("release", |ci| ci.cargo(&["build", "--release", "--locked", "-p", "wavetank"])),
            ("dist", |ci| {
                ci.skipped.extend(crate::dist::in_ci(ci.root)?);
                Ok(())
            }),
            ("instructions", |ci| {
                ci.skipped.extend(crate::instructions::in_ci(ci.root)?);
                Ok(())
            }),
            ("bench", |ci| {
                ci.skipped.extend(wavetank_bench::smoke(ci.root)?);
                Ok(())
            }),
        ];
        let failures: Vec<String> = steps
            .into_iter()
            .filter_map(|(name, work)| self.step(name, work).err())
            .map(|error| {
                println!("== {error:#}");
                format!("{error:#}")
            })
            .collect();
        if failures.is_empty() { Ok(()) } else { bail!("{}", failures.join("\n")) }
    }

    fn step(&mut self, name: &'static str, work: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        println!("\n== {name}");
        let (watch, cpu) = (Stopwatch::start(), cpu_of_children());
        let outcome = work(self);
        let took = watch.elapsed();
        let cpu = cpu_of_children().saturating_sub(cpu);
        self.done.push(StepTime { name, wall: took, cpu });
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
        run_cargo(self.cargo_command(arguments))
    }

    fn cargo_command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(cargo_program());
        command.args(arguments).current_dir(self.root);
        self.set_environment(&mut command);
        command
    }

    /// Sets what tests look for in their environment.
    fn set_environment(&self, command: &mut Command) {
        command.env(SKIPS_VARIABLE, &self.skips);
        if self.long {
            command.env(LONG_VARIABLE, "1");
        } else {
            command.env(PROPERTY_SEED.0, PROPERTY_SEED.1);
        }
    }

    /// What tests appended to the list of skips, each line once.
    fn skipped_tests(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.skips).unwrap_or_default();
        let mut lines: Vec<String> =
            text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// Where the time went and what did not run.
    fn summary(&self) {
        println!("\n== summary, {:.0} s in all", self.watch.elapsed().as_secs_f64());
        println!("       wall         CPU");
        for StepTime { name, wall, cpu } in &self.done {
            println!("{:>9.1} s {:>9.1} s  {name}", wall.as_secs_f64(), cpu.as_secs_f64());
        }
        let tests = self.skipped_tests();
        for line in self.skipped.iter().chain(&tests) {
            println!("SKIPPED {line}");
        }
        if self.tally != Tally::default() {
            // The closing line of a test runner.
            let Tally { passed, failed } = self.tally;
            println!("tests: {passed} passed, {failed} failed, {} skipped", tests.len());
        }
    }
}

/// Builds everything that the tests need, and fails for each warning of clippy.
///
/// `cargo clippy` would check all dependencies and the workspace, and the build would compile them
/// again. The driver of clippy is a whole compiler, so one pass does both.
fn build(ci: &mut Ci<'_>) -> Result<()> {
    let mut command = ci.cargo_command(&["test", "--workspace", "--all-targets", "--locked", "--no-run"]);
    compile_with_clippy(&mut command);
    run_cargo(command)
}

/// CPU time of all child processes that have ended, and of theirs.
fn cpu_of_children() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the kernel counts for every process");
    let times = [usage.user_time(), usage.system_time()];
    times.iter().map(|time| Duration::from_micros(time.num_microseconds().unsigned_abs())).sum()
}
