//! `bench ramp`: requests sent in each second of a ramp from 0 to 10,000/s, compared with the plan.

use std::path::Path;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::Value;

use crate::command_text::shown;
use crate::engine::Engine;
use crate::load_generator::file_words;
use crate::meter::Job;
use crate::server::Server;
use crate::session::Session;

/// Largest difference of a second from the plan.
const OFF_MAX: u64 = 1;
/// The rate at the ramp's end, per second.
const RATE: u64 = 10_000;

/// `cargo xtask bench ramp`.
#[derive(Args)]
pub(crate) struct RampArguments {
    /// Our driver, also used by the target `wavetank serve`.
    #[arg(long, default_value = "uring")]
    engine: Engine,
}

impl RampArguments {
    /// Returns the arguments that `bench all` uses.
    pub(crate) fn for_engine(engine: Engine) -> Self {
        Self { engine }
    }
}

/// Runs one ramp per round. The worst second of all rounds is judged.
pub(crate) fn run(session: &mut Session, arguments: &RampArguments) -> Result<()> {
    let engine = arguments.engine;
    if !engine.usable(session, "ramp")? {
        return Ok(());
    }
    let seconds = session.size.choose(10, 2);
    let server = Server::wavetank(session, engine)?;
    let text = format!(
        "name: ramp\ntarget: {}\nsteps: [{{get: /}}]\nphases:\n  - {{rate: 0/s to {RATE}/s, for: {seconds}s}}\n",
        server.url()
    );
    let words = file_words(session, engine, "ramp", &text)?;
    println!("\nload       {}", shown(&words));
    println!("target     {}", server.command);
    println!("round  sent in each second");
    let mut worst = 0;
    for round in 0..session.size.rounds() {
        let runs = session.folder.path().join("runs");
        let _ = std::fs::remove_dir_all(&runs);
        Job { words: &words, fine: &[1, 3, 4], seconds, cycles_of: &[] }.run(session)?;
        let sent = sent_by_second(&runs)?;
        let shown: Vec<String> = sent.iter().map(u64::to_string).collect();
        println!("{:<5}  {}", round + 1, shown.join(" "));
        let off = (0..u64::from(seconds)).map(|second| {
            let planned = planned(second + 1, u64::from(seconds)) - planned(second, u64::from(seconds));
            sent.get(second as usize).copied().unwrap_or(0).abs_diff(planned)
        });
        worst = worst.max(off.max().unwrap_or(0));
    }
    session.score(
        format!("sent in each second of a ramp from 0 to {RATE}/s, {}", engine.name()),
        format!("within {OFF_MAX} of the plan"),
        format!("at most {worst} off"),
        Some(worst <= OFF_MAX),
    );
    Ok(())
}

/// Returns the planned arrivals before second `second`. Arrival i, counted from 0, is due when the
/// integral of the rate reaches i.
fn planned(second: u64, seconds: u64) -> u64 {
    (RATE * second * second).div_ceil(2 * seconds)
}

/// Reads `sent` of the intervals that start at second 0, 1, 2 … from the archive of the only run in
/// `runs`.
fn sent_by_second(runs: &Path) -> Result<Vec<u64>> {
    let mut entries = std::fs::read_dir(runs).context("the archive")?;
    let run = entries.next().context("no archive")?.context("the archive")?.path();
    let text = std::fs::read_to_string(run.join("intervals").join("local.jsonl")).context("intervals")?;
    let mut sent = Vec::new();
    for line in text.lines() {
        let interval: Value = serde_json::from_str(line).context("an interval")?;
        let from = interval["from_ns"].as_i64().unwrap_or(-1);
        if interval["checkpoint"] == true || from < 0 {
            continue;
        }
        let second = (from / 1_000_000_000) as usize;
        sent.resize(sent.len().max(second + 1), 0);
        let series = interval["series"].as_array().context("series")?;
        sent[second] += series.iter().filter_map(|part| part["requests"]["sent"].as_u64()).sum::<u64>();
    }
    Ok(sent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_of_a_ramp_is_its_integral() {
        let check = |second, expected| assert_eq!(planned(second, 10), expected, "{second}");
        check(0, 0);
        check(1, 500);
        check(10, 50_000);
    }
}
