//! [`Session`]: one invocation: where things are, what was found, what was left out.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use super::goal::{GoalStatus, Score};
use super::{Size, cpus, machine, meter, namespace};
use crate::ci;

/// One invocation.
pub(super) struct Session {
    pub(super) wavetank: PathBuf,
    pub(super) cpus: cpus::Pair,
    pub(super) size: Size,
    /// A place for configurations and archives, removed at the end.
    pub(super) folder: TempDir,
    /// Whether `perf stat` counts cycles here.
    pub(super) perf: bool,
    /// Every number found, in order.
    pub(super) scores: Vec<Score>,
    /// `name: reason` of what this machine cannot do.
    pub(super) skipped: Vec<String>,
}

impl Session {
    /// Prints what machine this is. Nothing where there are not two CPUs.
    pub(super) fn open(wavetank: PathBuf, size: Size) -> Result<Option<Self>> {
        if size.rounds() == 0 || size.seconds() == 0 {
            bail!("at least one round of one second");
        }
        let Some(cpus) = cpus::Pair::current_affinity()? else { return Ok(None) };
        if !wavetank.is_file() {
            bail!("{} is missing: cargo build --release -p wavetank", wavetank.display());
        }
        let folder = tempfile::tempdir().context("a place for configurations")?;
        let perf = meter::counts_cycles();
        let session = Self { wavetank, cpus, size, folder, perf, scores: Vec::new(), skipped: Vec::new() };
        machine::tell(&session);
        Ok(Some(session))
    }

    /// Runs one bench, in a network of its own where that can be had: ports that others on this host use are no part
    /// of any number. What goes wrong is a line of the summary, and the next bench has its turn.
    pub(super) fn bench(&mut self, name: &str, bench: impl FnOnce(&mut Self) -> Result<()> + Send) {
        let outcome =
            if namespace::possible().is_ok() { namespace::inside(|_| bench(self)) } else { bench(self) };
        if let Err(error) = outcome {
            self.broken(format!("bench {name}"), "to run".to_owned(), format!("{error:#}"));
        }
    }

    /// A number beside its target; `met` is nothing where none is asked.
    pub(super) fn score(&mut self, number: String, target: String, measured: String, met: Option<bool>) {
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

    /// A number that could not be had.
    pub(super) fn broken(&mut self, number: String, target: String, why: String) {
        self.note(Score { number, target, measured: why, standing: GoalStatus::Broken });
    }

    /// What this machine cannot do: `name: reason`.
    pub(super) fn skip(&mut self, line: String) {
        println!("SKIPPED    {line}");
        self.skipped.push(line);
    }

    /// Whether a program is installed; otherwise notes that `bench` is left out.
    pub(super) fn has(&mut self, program: &str, bench: &str) -> bool {
        let here = ci::find_program(program).is_some();
        if !here {
            self.skip(format!("bench {bench}: {program} is not installed"));
        }
        here
    }

    fn note(&mut self, score: Score) {
        println!("{}", score.line());
        self.scores.push(score);
    }

    /// One that has nothing to run.
    #[cfg(test)]
    pub(super) fn for_tests() -> Self {
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
