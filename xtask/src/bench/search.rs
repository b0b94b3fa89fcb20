//! `bench search`: the knee that `wavetank search` finds, against targets that state their capacity.
//!
//! What is true: `wavetank serve`'s tiers do `workers / work` requests a second and no more, however much is asked. Asked
//! evenly for no more than that, each is answered in `work`; asked for more, the queue grows for as long as the run lasts.
//! So the highest rate that holds any threshold above `work` for ever is the stated capacity, and that is what the
//! interval must hold. A run of finite length passes a little above it: with `p95 < work + slack` up to
//! `1 + slack / (warm-up + 0.95 × length)` times the capacity, which the constants here keep below one step of the levels.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;

use super::server::Server;
use super::{Engine, Session};

/// Workers and work in milliseconds: 133 to 3,000 requests a second.
const STATED: [(u32, u32); 20] = [
    (4, 30),
    (3, 20),
    (2, 10),
    (5, 20),
    (3, 10),
    (5, 15),
    (4, 10),
    (2, 4),
    (3, 5),
    (4, 6),
    (3, 4),
    (4, 5),
    (4, 4),
    (5, 4),
    (6, 4),
    (7, 4),
    (8, 4),
    (9, 4),
    (10, 4),
    (12, 4),
];
/// Of 20 answers, so many must hold the capacity.
const HELD_MIN: f64 = 0.95;
/// What answers may take beyond their work, milliseconds.
const SLACK_MS: u32 = 20;
/// Searches in a smoke run.
const SMOKE: usize = 1;

/// `cargo xtask bench search`.
#[derive(Args)]
pub(super) struct SearchArguments {
    /// Our driver, and that of `wavetank serve`, the target.
    #[arg(long, default_value = "uring")]
    engine: Engine,
    /// Searches side by side
    #[arg(long, default_value_t = 4)]
    together: usize,
}

impl SearchArguments {
    /// As it stands among the numbers.
    pub(super) fn for_engine(engine: Engine) -> Self {
        Self { engine, together: 4 }
    }
}

/// What a search found of a stated capacity.
struct Found {
    stated: f64,
    low: f64,
    high: f64,
    runs: usize,
    took_s: f64,
    /// The first line and whose limit it was.
    told: String,
}

impl Found {
    /// An answer without one of its ends is none, though everything lies in it.
    fn holds(&self) -> bool {
        let both = self.low > 0.0 && self.high.is_finite();
        both && self.low <= self.stated && self.stated <= self.high
    }
}

/// All searches, some side by side.
pub(super) fn run(session: &mut Session, arguments: &SearchArguments) -> Result<()> {
    let engine = arguments.engine;
    if !engine.usable(session, "search")? {
        return Ok(());
    }
    let server = Server::wavetank(session, engine)?;
    println!("\ntarget     {}", server.command);
    let cases = &STATED[..session.size.choose(STATED.len(), SMOKE)];
    let (mut held, mut widths) = (0, Vec::new());
    for together in cases.chunks(arguments.together.max(1)) {
        for found in side_by_side(session, &server, together)? {
            held += usize::from(found.holds());
            widths.push((found.high / found.low - 1.0) * 100.0);
            println!(
                "stated {:>7.1}/s  found {:>7.1} to {:>7.1}{}  {} runs in {:.0} s",
                found.stated,
                found.low,
                found.high,
                if found.holds() { String::new() } else { format!("  NOT HELD: {}", found.told) },
                found.runs,
                found.took_s
            );
        }
    }
    let width = super::median(widths).context("no search")?;
    session.score(
        format!("of {} searches, answers that hold the stated capacity, {}", cases.len(), engine.name()),
        format!("≥ {HELD_MIN} of them"),
        format!("{held} of {}, intervals {width:.1} % wide (median)", cases.len()),
        Some(held as f64 >= HELD_MIN * cases.len() as f64),
    );
    Ok(())
}

fn side_by_side(session: &Session, server: &Server, cases: &[(u32, u32)]) -> Result<Vec<Found>> {
    std::thread::scope(|scope| {
        let searches: Vec<_> =
            cases.iter().map(|&case| scope.spawn(move || search(session, server, case))).collect();
        let ended =
            searches.into_iter().map(|one| one.join().unwrap_or_else(|_| anyhow::bail!("a search broke")));
        ended.collect()
    })
}

fn search(session: &Session, server: &Server, (workers, work): (u32, u32)) -> Result<Found> {
    let stated = f64::from(workers) * 1_000.0 / f64::from(work);
    let url = format!("{}tier/simple?workers={workers}&work={work}ms&queue=10000", server.url());
    let threshold = format!("p95 < {}ms", work + SLACK_MS);
    let length = if session.size.smoke { "300ms" } else { "2s" };
    let words =
        ["search", &url, "--threshold", &threshold, "-d", length, "--warmup", "500ms", "--settle", "300ms"];
    let output = Command::new(&session.wavetank)
        .args(words)
        .args([
            "--from",
            "50/s",
            "--threads",
            "1",
            "--max-time",
            "10m",
            "--no-archive",
            "--quiet",
            "--format",
            "json",
        ])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("wavetank search")?;
    let doc: Value = serde_json::from_slice(&output.stdout).context("no JSON")?;
    let end = |name: &str| doc["answer"][name].as_f64();
    let (low, high) = (end("low"), end("high"));
    ensure!(low.is_some() || high.is_some(), "no answer: {}", doc["answer"]);
    Ok(Found {
        stated,
        low: low.unwrap_or(0.0),
        high: high.unwrap_or(f64::INFINITY),
        runs: doc["runs"].as_array().map_or(0, Vec::len),
        took_s: doc["took_s"].as_f64().unwrap_or(0.0),
        told: format!("{}: {}", doc["answer"]["headline"], doc["answer"]["limit"]),
    })
}
