//! `cargo xtask bench`: wall-clock comparisons in paired rounds of one run.
//!
//! Generator and target have a CPU each. The contestants of a round run one after the other against one target that
//! stays up, in alternating order; what is judged is the median of the ratios of rounds, never a number of one
//! machine. A contestant whose count the target does not confirm makes its round void.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};

pub(crate) mod child;
mod cpus;
mod generator;
mod http;
mod http_row;
mod lateness;
mod pace;
pub(crate) mod probe;
mod server;
mod stamps;

use generator::Generator;

/// What to compare.
#[derive(Args)]
pub(crate) struct BenchArguments {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Subcommand)]
enum Bench {
    /// CPU per request beside wrk's, against `wavetank serve` and against a one-worker nginx.
    Http {
        #[command(flatten)]
        size: Size,
        /// wrk against wrk: how far two equal contestants lie apart here.
        #[arg(long)]
        same: bool,
    },
    /// Send lag of an open load beside a bare sleep-and-spin loop's lateness.
    Pace {
        #[command(flatten)]
        size: Size,
    },
}

/// How much.
#[derive(Args, Clone, Copy)]
struct Size {
    /// Paired rounds: 5, or 1 with `--smoke`.
    #[arg(long)]
    rounds: Option<usize>,
    /// One short round: everything runs, no number is judged.
    #[arg(long)]
    smoke: bool,
}

impl Size {
    fn rounds(self) -> usize {
        self.rounds.unwrap_or(if self.smoke { 1 } else { 5 })
    }

    /// How a number stands to its target, in a word.
    fn verdict(self, met: bool) -> &'static str {
        match (self.smoke, met) {
            (true, _) => "not judged in a smoke run",
            (false, true) => "met",
            (false, false) => "MISSED",
        }
    }
}

/// One invocation: where things are and what was left out.
struct Session {
    wavetank: PathBuf,
    cpus: cpus::Pair,
    size: Size,
    /// A place for configurations and archives, removed at the end.
    folder: tempfile::TempDir,
    /// `name: reason` of what this machine cannot do.
    skipped: Vec<String>,
}

/// Runs the benches named on the command line; an error where a number misses its target.
pub(crate) fn run(root: &Path, arguments: &BenchArguments) -> Result<()> {
    let skipped = match arguments.bench {
        Bench::Http { size, same } => {
            let contestant = if same { Generator::Wrk } else { Generator::Wavetank };
            with_session(root, size, |session| http::run(session, contestant))?
        }
        Bench::Pace { size } => with_session(root, size, pace::run)?,
    };
    for line in skipped {
        println!("SKIPPED {line}");
    }
    Ok(())
}

/// One short round of every bench; what this machine cannot do, as `name: reason`.
pub(crate) fn smoke(root: &Path) -> Result<Vec<String>> {
    let size = Size { rounds: None, smoke: true };
    let mut skipped = with_session(root, size, |session| http::run(session, Generator::Wavetank))?;
    skipped.extend(with_session(root, size, pace::run)?);
    Ok(skipped)
}

fn with_session(
    root: &Path,
    size: Size,
    bench: impl FnOnce(&mut Session) -> Result<()>,
) -> Result<Vec<String>> {
    if size.rounds() == 0 {
        bail!("at least one round");
    }
    let Some(cpus) = cpus::Pair::of_this_process()? else {
        return Ok(vec!["bench: needs two CPUs, one for the generator and one for the target".to_owned()]);
    };
    let wavetank = crate::target_folder(root).join("release").join("wavetank");
    if !wavetank.is_file() {
        bail!("{} is missing: cargo build --release -p wavetank", wavetank.display());
    }
    let folder = tempfile::tempdir().context("a place for configurations")?;
    let mut session = Session { wavetank, cpus, size, folder, skipped: Vec::new() };
    println!(
        "{}; generator on CPU {}, target on CPU {}, {} rounds",
        cpus::model(),
        session.cpus.generator,
        session.cpus.target,
        size.rounds()
    );
    bench(&mut session)?;
    Ok(session.skipped)
}

/// The middle value, the mean of two; nothing of nothing.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_is_the_middle() {
        let check = |values: &[f64], expected: Option<f64>| assert_eq!(median(values.to_vec()), expected);
        check(&[], None);
        check(&[3.0, 1.0, 2.0], Some(2.0));
        check(&[4.0, 1.0, 3.0, 2.0], Some(2.5));
    }
}
