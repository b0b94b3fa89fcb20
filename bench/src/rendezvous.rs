//! `bench meet`: a rendezvous of many open connections, and the time from its first request to its
//! last.

use anyhow::{Context, Result};
use clap::Args;
use serde_json::Value;

use crate::command_text::shown;
use crate::engine::Engine;
use crate::load_generator::file_words;
use crate::meter::Job;
use crate::server::Server;
use crate::session::Session;
use crate::stats::median;
use crate::stats::threads_suffix;

/// Most milliseconds between the first and the last request.
const SKEW_MAX_MS: f64 = 150.0;

/// `cargo xtask bench meet`.
#[derive(Args)]
pub(crate) struct MeetArguments {
    /// Our driver, also used by the target `wavetank serve`.
    #[arg(long, default_value = "uring")]
    engine: Engine,
    /// Users that meet, each with an open connection [default: 10,000; 500 in a smoke run]
    #[arg(long)]
    users: Option<usize>,
}

impl MeetArguments {
    /// Returns the arguments that `bench all` uses.
    pub(crate) fn for_engine(engine: Engine) -> Self {
        Self { engine, users: None }
    }
}

/// Runs one rendezvous per round.
pub(crate) fn run(session: &mut Session, arguments: &MeetArguments) -> Result<()> {
    let engine = arguments.engine;
    if !session.has_namespaces("meet") || !engine.usable(session, "meet")? {
        return Ok(());
    }
    let users = arguments.users.unwrap_or(session.size.choose(10_000, 500)).max(2);
    let threads = engine.threads_for(users);
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], 8_080));
    let server = Server::wavetank_at(session, engine, address, Some(users + 1_000))?;
    let text = format!(
        "name: meet\ntarget: {}\nsteps:\n  - get: /\n  - {{rendezvous: doors, wait: 60s}}\n  - get: /\n    name: rush\nphases:\n  \
         - {{users: 0 to {users}, at: 5k/s, sessions: 1 each}}\n  - {{pause: 5s}}\n",
        server.url()
    );
    let words = file_words(session, engine, "meet", &text)?;
    println!("\nload       {}", shown(&words));
    println!("target     {}", server.command);
    let mut skews = Vec::new();
    for round in 0..session.size.rounds() {
        let used = Job { words: &words, fine: &[1, 3, 4], seconds: 20, cycles_of: &[] }.run(session)?;
        let skew = skew_ms(&used.stdout, users as u64)?;
        println!("round {}: {skew:.1} ms from the first sent to the last", round + 1);
        skews.push(skew);
    }
    let skew = median(skews).context("no round")?;
    session.score(
        format!("rendezvous of {users} open connections, {}{}", engine.name(), threads_suffix(threads)),
        format!("≤ {SKEW_MAX_MS:.0} ms from the first sent to the last"),
        format!("{skew:.1} ms"),
        Some(skew <= SKEW_MAX_MS),
    );
    Ok(())
}

/// Reads the skew from the JSON of a run in which all `users` met once.
fn skew_ms(stdout: &str, users: u64) -> Result<f64> {
    let run: Value = serde_json::from_str(stdout).context("no JSON")?;
    let meeting = &run["rendezvous"][0];
    anyhow::ensure!(meeting["present"] == users, "not all {users} met: {meeting}");
    Ok(meeting["skew_us"].as_f64().context("rendezvous[0].skew_us")? / 1e3)
}
