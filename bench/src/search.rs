//! `bench search`: the limit that `wavetank search` finds, against targets with a known capacity.
//!
//! A tier of `wavetank serve` serves exactly `workers / work` requests per second at most. Evenly
//! spaced requests up to that rate are each answered in `work`. Above it the queue grows as long as
//! the run lasts. The highest rate that meets any threshold above `work` forever is therefore the
//! stated capacity, and the found interval must contain it.
//!
//! A run of finite length passes slightly above the capacity. With `p95 < work + slack` it passes
//! up to `1 + slack / (warm-up + 0.95 × length)` times the capacity. The constants here keep that
//! factor below one step of the levels.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;

use crate::engine::Engine;
use crate::server::Server;
use crate::session::Session;

/// Workers and work in milliseconds, for 133 to 3,000 requests per second.
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
/// Share of the searches with an interval that must contain the capacity.
const HELD_MIN: f64 = 0.95;
/// Milliseconds that responses may take beyond their work.
const SLACK_MS: u32 = 20;
/// Searches in a smoke run.
const SMOKE: usize = 1;

/// `cargo xtask bench search`.
#[derive(Args)]
pub(crate) struct SearchArguments {
    /// Our driver, also used by the target `wavetank serve`.
    #[arg(long, default_value = "uring")]
    engine: Engine,
    /// Number of parallel searches
    #[arg(long, default_value_t = 4)]
    together: usize,
}

impl SearchArguments {
    /// Returns the arguments that `bench all` uses.
    pub(crate) fn for_engine(engine: Engine) -> Self {
        Self { engine, together: 4 }
    }
}

/// The result of a search for a known capacity.
struct Found {
    stated: f64,
    low: f64,
    high: f64,
    runs: usize,
    took_s: f64,
    /// The headline and the bottleneck.
    reported: String,
}

impl Found {
    /// Returns whether the interval contains the capacity. An interval without one of its ends does
    /// not count.
    fn holds(&self) -> bool {
        let both = self.low > 0.0 && self.high.is_finite();
        both && self.low <= self.stated && self.stated <= self.high
    }
}

/// Runs all searches, some in parallel.
pub(crate) fn run(session: &mut Session, arguments: &SearchArguments) -> Result<()> {
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
                if found.holds() { String::new() } else { format!("  NOT CONTAINED: {}", found.reported) },
                found.runs,
                found.took_s
            );
        }
    }
    let width = crate::stats::median(widths).context("no search")?;
    session.score(
        format!("of {} searches, intervals that contain the stated capacity, {}", cases.len(), engine.name()),
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
            searches.into_iter().map(|one| one.join().unwrap_or_else(|_| anyhow::bail!("a search panicked")));
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
        reported: format!("{}: {}", doc["answer"]["headline"], doc["answer"]["limit"]),
    })
}
