//! `bench users`: Wavetank's memory per virtual user in think time, as the growth between two
//! numbers of users.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::child;
use crate::command_text::shown;
use crate::cpus;
use crate::engine::Engine;
use crate::load_generator::file_words;
use crate::process;
use crate::server::Server;
use crate::session::Session;
use crate::stats::median;

/// Most bytes of user memory per user.
const BYTES_MAX: f64 = 512.0;
/// Milliseconds between two samples.
const LOOK_MILLIS: i64 = 50;
/// Longest duration of a run, in samples.
const LOOKS_MAX: usize = 1_000;
/// Seconds within which all users start.
const RAMP_SECONDS: usize = 20;

/// `cargo xtask bench users`.
#[derive(Args)]
pub(crate) struct UsersArguments {
    /// Our driver.
    #[arg(long, default_value = "uring")]
    engine: Engine,
    /// The smaller number of users [default: 10,000; 1,000 in a smoke run]
    #[arg(long)]
    few: Option<usize>,
    /// The larger one [default: 1,000,000; 20,000 in a smoke run]
    #[arg(long)]
    many: Option<usize>,
}

impl UsersArguments {
    /// Returns the arguments that `bench all` uses.
    pub(crate) fn for_engine(engine: Engine) -> Self {
        Self { engine, few: None, many: None }
    }
}

/// Measures at both numbers, once per round.
pub(crate) fn run(session: &mut Session, arguments: &UsersArguments) -> Result<()> {
    if !arguments.engine.usable(session, "users")? {
        return Ok(());
    }
    let few = arguments.few.unwrap_or(session.size.choose(10_000, 1_000));
    let many = arguments.many.unwrap_or(session.size.choose(1_000_000, 20_000));
    if few >= many {
        bail!("--few must be less than --many");
    }
    let server = Server::wavetank(session, arguments.engine)?;
    println!("\nload       {}", shown(&words(session, arguments, &server, many)?));
    println!("round    MB at {few:>7}  MB at {many:>7}   bytes per user");
    let mut growths = Vec::new();
    // Memory varies less than time, so two rounds are enough.
    for round in 0..session.size.rounds().min(2) {
        let [low, high] = [few, many].map(|users| resident(session, arguments, &server, users));
        let (low, high) = (low?, high?);
        let growth = (high - low) / (many - few) as f64;
        println!("{:<7}  {:>13.2}  {:>13.2}  {growth:>15.0}", round + 1, low / 1e6, high / 1e6);
        growths.push(growth);
    }
    let growth = median(growths).context("no round")?;
    session.score(
        format!("user memory per thinking user, {few} to {many}, {}", arguments.engine.name()),
        format!("≤ {BYTES_MAX:.0} B"),
        format!("{growth:.0} B"),
        Some(growth <= BYTES_MAX),
    );
    Ok(())
}

/// Returns the command. Each user has received a response before it thinks, so it has used its
/// session state. The users share their connections.
fn words(
    session: &Session,
    arguments: &UsersArguments,
    server: &Server,
    users: usize,
) -> Result<Vec<String>> {
    let text = format!(
        "name: thinkers\ntarget: {}\ndrain: 0s\nscenarios:\n  thinker:\n    weight: 1\n    connection: shared\n    \
         steps: [{{get: /}}, {{think: 100s}}]\nphases:\n  - {{users: 0 to {users}, at: {}/s}}\n  \
         - {{users: {users}, for: 5s}}\n",
        server.url(),
        users / RAMP_SECONDS
    );
    file_words(session, arguments.engine, &format!("thinkers-{users}"), &text)
}

/// Returns the largest anonymous memory of the process while it runs, in bytes.
fn resident(session: &Session, arguments: &UsersArguments, server: &Server, users: usize) -> Result<f64> {
    let words = words(session, arguments, server, users)?;
    let before = server.count()?;
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut program = cpus::spawn_on(session.cpus.generator, &mut command)?;
    let mut most = 0;
    for _ in 0..LOOKS_MAX {
        if child::ends_within(&program, LOOK_MILLIS)? {
            break;
        }
        most = most.max(process::anonymous_bytes(program.id()).unwrap_or(0));
    }
    if !child::ends_within(&program, 0)? {
        program.kill().context("kill")?;
    }
    let output = program.wait_with_output().context("wait")?;
    let seen = server.count_since(before)?;
    if seen < users as u64 {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("only {seen} of {users} users started: {}", said.trim());
    }
    Ok(most as f64)
}
