//! The project's task runner: `cargo ci`, `cargo xtask tidy`, `cargo xtask golden`, `cargo xtask
//! bench`, `cargo xtask dist`, `cargo xtask instructions`, `cargo xtask pictures`. It depends on no
//! crate of the product, so that it works while the product does not build.
#![expect(clippy::print_stdout, reason = "a command-line program speaks on stdout")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod ci;
mod dist;
mod instructions;
mod pictures;
mod sha256;
mod targets;
mod tidy;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's task runner")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run everything that must pass before a change lands: format, lints, rules, licences, tests
    Ci(ci::CiArguments),
    /// The rules of the house that the compiler does not know.
    Tidy,
    /// Record that the goldens of the stored formats are in step with the pages that describe them.
    Golden,
    /// What is handed out: static binaries, bundles, checksums, into dist/.
    Dist(dist::DistArguments),
    /// Count the instructions of a request on the load path and compare them with the recorded
    /// counts
    Instructions(instructions::InstructionsArguments),
    /// The pictures of README, from runs made now.
    Pictures(pictures::PicturesArguments),
    /// Run benchmarks next to peers, in paired rounds
    Bench(wavetank_bench::BenchArguments),
    /// Helper of `bench`: runs a program and writes what it used to a file.
    #[command(hide = true)]
    Child {
        #[arg(long)]
        usage: PathBuf,
        #[arg(long)]
        seconds_max: u32,
        #[arg(last = true)]
        words: Vec<String>,
    },
    /// Helper of `bench pace`: a bare sleep-and-spin loop that says how late it was.
    #[command(hide = true)]
    Probe {
        #[arg(long)]
        rate: u32,
        #[arg(long)]
        seconds: u32,
    },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Ci(arguments) => ci::run(&root(), &arguments),
        Task::Tidy => tidy(),
        Task::Golden => tidy::record_goldens(&root()),
        Task::Instructions(arguments) => instructions::run(&root(), &arguments),
        Task::Dist(arguments) => dist::run(&root(), &arguments),
        Task::Pictures(arguments) => pictures::run(&root(), &arguments),
        Task::Bench(arguments) => wavetank_bench::run(&root(), &arguments),
        Task::Child { usage, seconds_max, words } => wavetank_bench::child::run(&usage, seconds_max, &words),
        Task::Probe { rate, seconds } => wavetank_bench::probe::run(rate, seconds),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn tidy() -> anyhow::Result<()> {
    let findings = tidy::run(&root())?;
    for finding in &findings {
        println!("{finding}");
    }
    anyhow::ensure!(findings.is_empty(), "tidy: {} breaches", findings.len());
    println!("tidy: nothing to complain about");
    Ok(())
}

/// The repository's root: the folder above this crate's.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the repository").to_owned()
}
