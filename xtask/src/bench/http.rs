//! `bench http`: CPU per request beside wrk's, 64 keep-alive connections, one thread.

use anyhow::{Context, Result, bail};

use super::generator::{CONNECTIONS, Generator, Turn};
use super::http_row::{Outcome, Row};
use super::server::Server;
use super::{Session, Size, median};
use crate::ci;

/// Most memory a run at 64 connections may have.
const PEAK_RSS_BYTES_MAX: u64 = 25_000_000;
/// How far a contestant's count may lie from the target's.
const COUNT_TOLERANCE: f64 = 0.001;

/// Compares `contestant` with wrk against both targets; an error where a number misses its target.
pub(super) fn run(session: &mut Session, contestant: Generator) -> Result<()> {
    if ci::find_program("wrk").is_none() {
        session.skipped.push("bench http: wrk is not installed".to_owned());
        return Ok(());
    }
    let mut missed = Vec::new();
    if contestant == Generator::Wavetank {
        let server = Server::wavetank(session)?;
        missed.extend(against(session, contestant, &server, "wavetank serve", 0.75)?);
    }
    if ci::find_program("nginx").is_some() {
        let server = Server::nginx(session)?;
        missed.extend(against(session, contestant, &server, "nginx, one worker", 0.92)?);
    } else {
        session.skipped.push("bench http against nginx: nginx is not installed".to_owned());
    }
    if !missed.is_empty() && !session.size.smoke && contestant == Generator::Wavetank {
        bail!("missed: {}", missed.join("; "));
    }
    Ok(())
}

/// All rounds against one target; what was missed.
fn against(
    session: &Session,
    contestant: Generator,
    server: &Server,
    name: &str,
    target: f64,
) -> Result<Vec<String>> {
    let seconds = if session.size.smoke { 1 } else { 4 };
    println!("\ntarget     {name}: {}", server.command);
    for generator in [contestant, Generator::Wrk] {
        println!("{:<10} {}", generator.name(), generator.words(session, &server.url(), seconds).join(" "));
    }
    println!("{}", Row::HEADER);
    let mut rows = Vec::new();
    for round in 0..session.size.rounds() {
        let turn = |generator| counted_turn(session, generator, server, seconds);
        // Whoever goes first meets another machine than whoever goes second: take turns in that too.
        let (ours, peer) = if round % 2 == 0 {
            let ours = turn(contestant)?;
            (ours, turn(Generator::Wrk)?)
        } else {
            let peer = turn(Generator::Wrk)?;
            (turn(contestant)?, peer)
        };
        let row = Row::new(&ours, &peer);
        println!("{}", row.line(round + 1));
        rows.push(row);
    }
    judge(session.size, &rows, name, target)
}

/// A turn, and why its count cannot be trusted, if so.
fn counted_turn(
    session: &Session,
    generator: Generator,
    server: &Server,
    seconds: u32,
) -> Result<(Turn, Option<String>)> {
    let before = server.count()?;
    let turn = generator.turn(session, &server.url(), seconds)?;
    let seen = server.count_since(before)?;
    // wrk leaves with requests under way: in a run of a second they alone are more than the tolerance.
    let under_way = if session.size.smoke { CONNECTIONS as f64 } else { 0.0 };
    let off = (seen as f64 - turn.sent as f64).abs();
    let void = off > turn.sent as f64 * COUNT_TOLERANCE + under_way;
    let why = void.then(|| format!("{} counted {}, the target {seen}", generator.name(), turn.sent));
    Ok((turn, why))
}

/// Prints each number beside its target; what was missed. No number can be had of rounds that are all void.
fn judge(size: Size, rows: &[Row], name: &str, target: f64) -> Result<Vec<String>> {
    let outcome = Outcome::of(rows);
    let ratio = outcome.ratio.with_context(|| format!("{name}: every round is void, the counts differ"))?;
    let peak = median(rows.iter().map(|row| row.peak_rss_bytes as f64).collect()).unwrap_or(0.0);
    let mut missed = Vec::new();
    let verdict = size.verdict(ratio <= target);
    println!(
        "CPU        median of ratios {ratio:.3}, target {target:.2}: {verdict} ({} of {} rounds)",
        outcome.valid,
        rows.len()
    );
    if ratio > target {
        missed.push(format!("CPU per request against {name}: {ratio:.3} × wrk's, target {target:.2}"));
    }
    let verdict = size.verdict(peak <= PEAK_RSS_BYTES_MAX as f64);
    println!(
        "memory     median peak {:.1} MB, target {:.0} MB: {verdict}",
        peak / 1e6,
        PEAK_RSS_BYTES_MAX as f64 / 1e6
    );
    if peak > PEAK_RSS_BYTES_MAX as f64 {
        missed.push(format!("peak memory against {name}: {:.1} MB", peak / 1e6));
    }
    Ok(missed)
}
