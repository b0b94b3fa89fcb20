//! [`Session`]: one invocation, with its paths, scores and skipped parts.

use crate::programs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::cpus;
use crate::cycles;
use crate::goal::{GoalStatus, Score};
use crate::machine;
use crate::namespace;
use crate::size::Size;

/// One invocation.
pub(crate) struct Session {
    pub(crate) wavetank: PathBuf,
    pub(crate) cpus: cpus::Pair,
    pub(crate) size: Size,
    /// A directory for configurations and archives, removed at the end.
    pub(crate) folder: TempDir,
    /// Whether `perf stat` counts cycles here.
    pub(crate) perf: bool,
    /// All scores, in order.
    pub(crate) scores: Vec<Score>,
    /// What was skipped on this machine, as `name: reason`.
    pub(crate) skipped: Vec<String>,
}

impl Session {
    /// Opens a session and prints the description of this machine. Returns `None` if there are
    /// fewer than two CPUs.
    pub(crate) fn open(wavetank: PathBuf, size: Size) -> Result<Option<Self>> {
        if size.rounds() == 0 || size.seconds() == 0 {
            bail!("--rounds and --seconds must be at least 1");
        }
        let Some(cpus) = cpus::Pair::current_affinity()? else { return Ok(None) };
        if !wavetank.is_file() {
            bail!("{} is missing: cargo build --release -p wavetank", wavetank.display());
        }
        let folder = tempfile::tempdir().context("cannot create a temporary directory")?;
        let perf = cycles::are_counted();
        let session = Self { wavetank, cpus, size, folder, perf, scores: Vec::new(), skipped: Vec::new() };
        machine::print_facts(session.cpus, session.size.rounds(), session.perf);
        Ok(Some(session))
    }

    /// Runs one bench, in a network namespace of its own if possible, so that ports in use by other
    /// programs do not affect the numbers. A failure is a line of the summary, and the next bench
    /// still runs.
    pub(crate) fn bench(&mut self, name: &str, bench: impl FnOnce(&mut Self) -> Result<()> + Send) {
        let outcome =
            if namespace::possible().is_ok() { namespace::inside(|_| bench(self)) } else { bench(self) };
        if let Err(error) = outcome {
            self.broken(format!("bench {name}"), "to run".to_owned(), format!("{error:#}"));
        }
    }

    /// Records a number with its target. `met` is `None` if it has no target.
    pub(crate) fn score(&mut self, number: String, target: String, measured: String, met: Option<bool>) {
        let standing = match met {
            Some(met) if !self.size.smoke => {
                if met {
                    GoalStatus::Met
                } else {
                    GoalStatus::Missed
                }
            }
            _ => GoalStatus::NotJudged,
        };
        self.note(Score { number, target, measured, standing });
    }

    /// Records a number that could not be measured.
    pub(crate) fn broken(&mut self, number: String, target: String, why: String) {
        self.note(Score { number, target, measured: why, standing: GoalStatus::Broken });
    }

    /// Records what is skipped on this machine, as `name: reason`.
    pub(crate) fn skip(&mut self, line: String) {
        println!("SKIPPED    {line}");
        self.skipped.push(line);
    }

    /// Returns whether a program is installed. If not, notes that `bench` is skipped.
    pub(crate) fn has(&mut self, program: &str, bench: &str) -> bool {
        let here = programs::find(program).is_some();
        if !here {
            self.skip(format!("bench {bench}: {program} is not installed"));
        }
        here
    }

    /// Returns whether namespaces can be made here. If not, notes that `bench` is skipped.
    pub(crate) fn has_namespaces(&mut self, bench: &str) -> bool {
        let made = namespace::possible();
        if let Err(error) = &made {
            self.skip(format!("bench {bench}: {error:#}"));
        }
        made.is_ok()
    }

    fn note(&mut self, score: Score) {
        println!("{}", score.line());
        self.scores.push(score);
    }

    /// Returns a session without a program to run.
    #[cfg(test)]
    pub(crate) fn for_tests() -> Self {
        Self {
            wavetank: PathBuf::new(),
            cpus: cpus::Pair { generator: 0, target: 0 },
            size: Size { rounds: None, seconds: None, smoke: false },
            folder: tempfile::tempdir().expect("a folder"),
            perf: false,
            scores: Vec::new(),
            skipped: Vec::new(),
        }
    }
}
