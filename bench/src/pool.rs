//! `bench pool`: a rate without `-c`, compared with 64 connections, in paired rounds on the
//! built-in target.
//!
//! The pool without `-c` has a limit of its own. If that limit were wrong, the run would spoil its
//! own result: connections without bound, or requests that wait for one.

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::Value;

use crate::engine::Engine;
use crate::meter::Job;
use crate::server::Server;
use crate::session::Session;
use crate::stats::median;

/// Requests per second.
const RATE: u32 = 51_000;
/// Most p99 without `-c`, relative to 64 connections.
const P99_RATIO_MAX: f64 = 1.5;
/// Least limit that a search without `-c` finds, relative to one with 64 connections.
const LIMIT_RATIO_MIN: f64 = 0.9;

/// `cargo xtask bench pool`.
#[derive(Args)]
pub(crate) struct PoolArguments {
    /// Our driver, also used by the target `wavetank serve`.
    #[arg(long, default_value = "uring")]
    engine: Engine,
    /// Requests per second [default: 51,000; 2,000 in a smoke run]
    #[arg(long)]
    rate: Option<u32>,
    /// Leave out the searches, which take minutes.
    #[arg(long)]
    no_search: bool,
}

impl PoolArguments {
    /// Returns the arguments that `bench all` uses.
    pub(crate) fn for_engine(engine: Engine) -> Self {
        Self { engine, rate: None, no_search: false }
    }
}

/// Compares p99 in all rounds, and then one search of each kind.
pub(crate) fn run(session: &mut Session, arguments: &PoolArguments) -> Result<()> {
    let engine = arguments.engine;
    if !engine.usable(session, "pool")? {
        return Ok(());
    }
    let server = Server::wavetank(session, engine)?;
    let rate = arguments.rate.unwrap_or(session.size.choose(RATE, 2_000));
    let seconds = session.size.seconds().max(3);
    println!("\ntarget     {}", server.command);
    println!("load       run {} -r {rate}/s -d {seconds}s [-c 64]", server.url());
    println!("round   p99 µs without -c    with -c 64   ratio");
    let mut ratios = Vec::new();
    for round in 0..session.size.rounds() {
        let p99 = |pool: &str| -> Result<f64> {
            let line = format!("run {} -r {rate}/s -d {seconds}s{pool}", server.url());
            let run = result(session, engine, &line, seconds)?;
            run["response_us"]["p99"].as_f64().context("response_us.p99")
        };
        let (mut own, mut fixed) = (0.0, 0.0);
        for step in 0..2 {
            if (round + step) % 2 == 0 { own = p99("")? } else { fixed = p99(" -c 64")? }
        }
        println!("{:<7} {own:>17.0} {fixed:>13.0} {:>7.2}", round + 1, own / fixed);
        ratios.push(own / fixed);
    }
    let ratio = median(ratios).context("no round")?;
    session.score(
        format!("p99 of {rate}/s without -c, relative to -c 64, {}", engine.name()),
        format!("≤ {P99_RATIO_MAX} ×"),
        format!("{ratio:.2} ×"),
        Some(ratio <= P99_RATIO_MAX),
    );
    if !arguments.no_search && !session.size.smoke {
        searches(session, engine, &server)?;
    }
    Ok(())
}

/// Compares the limits that two quick searches find.
fn searches(session: &mut Session, engine: Engine, server: &Server) -> Result<()> {
    let limit = |pool: &str| -> Result<f64> {
        let line = format!("search {}{pool} --threshold p99<20ms --quick", server.url());
        let found = result(session, engine, &line, 600)?;
        let low = found["answer"]["low"].as_f64().context("answer.low")?;
        println!("search{pool:<8} at least {low:.0}/s");
        Ok(low)
    };
    let (fixed, own) = (limit(" -c 64")?, limit("")?);
    session.score(
        format!("limit that a search without -c finds, relative to -c 64, {}", engine.name()),
        format!("≥ {LIMIT_RATIO_MIN} ×"),
        format!("{:.2} ×", own / fixed),
        Some(own >= LIMIT_RATIO_MIN * fixed),
    );
    Ok(())
}

/// Runs a command of ours on one thread, and returns the JSON that it prints.
fn result(session: &Session, engine: Engine, line: &str, seconds: u32) -> Result<Value> {
    let line = format!(
        "{} {line} --threads 1 --engine {} --format json --quiet --runs-dir {}",
        session.wavetank.display(),
        engine.name(),
        session.folder.path().join("runs").display()
    );
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let used = Job { words: &words, fine: &[1, 3, 4], seconds, cycles_of: &[] }.run(session)?;
    serde_json::from_str(&used.stdout).context("the result's JSON")
}
