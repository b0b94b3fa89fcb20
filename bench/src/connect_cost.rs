//! `bench flat`: the cost of connecting while more and more connections are held, in one Wavetank
//! process.
//!
//! Requests arrive on a schedule at a path that answers far too late, so each opens its own
//! connection and keeps it. The archive has the connect times second by second, and how many
//! connections were open at the end of each second.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::Value;

use crate::command_text::shown;
use crate::engine::Engine;
use crate::meter::Job;
use crate::namespace;
use crate::server::Server;
use crate::session::Session;
use crate::stats::median;
use crate::stats::threads_suffix;

/// Largest factor by which the median connect time may rise over the median without held
/// connections.
const RISE_MAX: f64 = 1.5;
/// Fewest connections that close per second. When the load ends, it closes all connections, and the
/// kernel takes some microseconds for each. Without this allowance a large run would be killed
/// before it has printed its result.
const CLOSED_PER_SECOND: u32 = 50_000;

/// Connections in addition to the held ones: the requests for the target's count, and a few late
/// arrivals.
const SPARE: usize = 1_000;

/// `cargo xtask bench flat`.
#[derive(Args)]
pub(crate) struct FlatArguments {
    /// Our driver, also used by the target `wavetank serve`.
    #[arg(long, default_value = "uring")]
    engine: Engine,
    /// Connections held at the end [default: 200,000; 2,000 in a smoke run]
    #[arg(long)]
    held: Option<u32>,
    /// Connections opened per second.
    #[arg(long, default_value_t = 10_000)]
    open_rate: u32,
    /// Our source addresses.
    #[arg(long, default_value = "127.1.0.0/24")]
    source: String,
}

impl FlatArguments {
    /// Returns the arguments that `bench all` uses.
    pub(crate) fn for_engine(engine: Engine) -> Self {
        Self { engine, held: None, open_rate: 10_000, source: "127.1.0.0/24".to_owned() }
    }
}

/// One second of the archive.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Second {
    /// Connections held at its start and at its end.
    held: (u64, u64),
    /// Median connect time within it.
    connect_p50_us: f64,
}

/// Opens and holds the connections again in every round, and judges the steepest rise of each
/// round.
pub(crate) fn run(session: &mut Session, arguments: &FlatArguments) -> Result<()> {
    let engine = arguments.engine;
    if !session.has_namespaces("flat") || !engine.usable(session, "flat")? {
        return Ok(());
    }
    let held = arguments.held.unwrap_or(session.size.choose(200_000, 2_000)).max(10);
    // At least five seconds, so that each level falls into a different second.
    let seconds = held.div_ceil(arguments.open_rate.max(1)).max(5);
    let rate = held.div_ceil(seconds);
    let held = rate * seconds;
    let address = SocketAddr::from(([127, 0, 0, 1], 8_080));
    let threads = engine.threads_for(held as usize + SPARE);
    let words = words(session, arguments, address, (rate, seconds), threads);
    println!("\nload       {}", shown(&words));
    println!(
        "target     wavetank serve --engine {} --threads {threads}, in the same namespace",
        engine.name()
    );
    let levels: Vec<u64> = (0..=4).map(|quarter| u64::from(held) * quarter / 4).collect();
    let heads: Vec<String> = levels.iter().map(|level| format!("{level:>8} held")).collect();
    println!("round  {}   rise   (median connect time, µs)", heads.join("  "));
    let mut rises = Vec::new();
    // A round takes as long as opening the connections. Three rounds show whether they agree.
    for round in 0..session.size.rounds().min(3) {
        let reported = namespace::inside(|_| {
            let server = Server::wavetank_at(session, engine, address, Some(held as usize + SPARE))?;
            let before = server.count()?;
            let seconds = seconds + held.div_ceil(CLOSED_PER_SECOND);
            Job { words: &words, fine: &[1, 3, 4], seconds, cycles_of: &[] }.run(session)?;
            let seen = server.count_since(before)?;
            if seen.abs_diff(u64::from(held)) > u64::from(held) / 1_000 {
                bail!("{held} requests were sent, the target counted {seen}");
            }
            seconds_of(&session.folder.path().join("flat"))
        })?;
        let medians = levels.iter().map(|&level| at_level(&reported, level));
        let medians: Vec<f64> = medians.collect::<Option<_>>().context("a level was not reached")?;
        let rise = medians.iter().copied().fold(0.0, f64::max) / medians[0];
        let shown: Vec<String> = medians.iter().map(|median| format!("{median:>13.1}")).collect();
        println!("{:<5}  {}  {rise:>5.2}", round + 1, shown.join("  "));
        rises.push(rise);
    }
    let rise = median(rises).context("no round")?;
    session.score(
        format!(
            "connect p50 from 0 to {held} connections held, {}{}",
            engine.name(),
            threads_suffix(threads)
        ),
        format!("rises ≤ {RISE_MAX} ×"),
        format!("{rise:.2} ×"),
        Some(rise <= RISE_MAX),
    );
    Ok(())
}

fn words(
    session: &Session,
    arguments: &FlatArguments,
    address: SocketAddr,
    (rate, seconds): (u32, u32),
    threads: usize,
) -> Vec<String> {
    // Without -c the pool of an open loop is smaller, and requests would wait for connections.
    let most = rate as usize * seconds as usize + SPARE;
    let line = format!(
        "{} run http://{address}/sleep600 -r {rate}/s -d {seconds}s -c {most} --max-open {most} --no-probe --timeout 600s --drain 0s \
         --threads {threads} --engine {} --source {} --format json --runs-dir {}",
        session.wavetank.display(),
        arguments.engine.name(),
        arguments.source,
        session.folder.path().join("flat").display()
    );
    line.split(' ').map(str::to_owned).collect()
}

/// Returns the seconds of the only run in `runs`, and removes that run.
fn seconds_of(runs: &Path) -> Result<Vec<Second>> {
    let mut entries = std::fs::read_dir(runs).context("the archive")?;
    let run = entries.next().context("no archive")?.context("the archive")?.path();
    let text = std::fs::read_to_string(run.join("intervals").join("local.jsonl")).context("intervals")?;
    std::fs::remove_dir_all(runs).context("the archive")?;
    let mut seconds = Vec::new();
    let mut open = 0;
    for line in text.lines() {
        let interval: Value = serde_json::from_str(line).context("an interval")?;
        if interval["checkpoint"] == true {
            continue;
        }
        let held = (open, interval["conns"]["open"].as_u64().context("conns.open")?);
        open = held.1;
        let series = interval["series"].as_array().context("series")?;
        let mut connect = series.iter().map(|part| &part["times"]["connect"]);
        let Some(connect) = connect.find(|times| times["count"].as_u64() > Some(0)) else {
            continue;
        };
        let median = median_ns(connect).context("buckets of the connect times")?;
        seconds.push(Second { held, connect_p50_us: median as f64 / 1e3 });
    }
    Ok(seconds)
}

/// Returns the median of a stored histogram in nanoseconds. `docs/formats/archive.md` describes the
/// format.
fn median_ns(times: &Value) -> Option<u64> {
    let (count, min) = (times["count"].as_u64()?, times["min"].as_u64()?);
    let beyond = u64::from((64 - min.leading_zeros()).saturating_sub(8));
    let mut bucket = 128 * beyond + (min >> beyond);
    let mut left = count.div_ceil(2);
    let number =
        |byte: u8| u64::from(byte.wrapping_sub(b'!')) - u64::from(byte > b'"') - u64::from(byte > b'\\');
    let mut numbers = times["buckets"].as_str()?.bytes().map(number);
    while let Some(n) = numbers.next() {
        let mut long = || {
            let (mut sum, mut place) = (0, 1);
            loop {
                let digit = numbers.next()?;
                sum += digit % 46 * place;
                place *= 46;
                if digit < 46 {
                    return Some(sum);
                }
            }
        };
        let (empty, values) = match n {
            0..=79 => (n / 16, n % 16 + 1),
            80..=89 => (0, 17 + 92 * (n - 80) + numbers.next()?),
            90 => (0, 937 + long()?),
            _ => (1 + long()?, 0),
        };
        bucket += empty;
        if values == 0 {
            continue;
        }
        if values >= left {
            let beyond = (bucket / 128).saturating_sub(1);
            return Some(((bucket - 128 * beyond + 1) << beyond) - 1);
        }
        left -= values;
        bucket += 1;
    }
    None
}

/// Returns the median connect time of the second in which `level` connections were reached. For the
/// last few connections, the second with the most held ones counts.
fn at_level(seconds: &[Second], level: u64) -> Option<f64> {
    let fullest = seconds.iter().max_by_key(|second| second.held.1)?;
    let fullest = Some(fullest).filter(|fullest| level <= fullest.held.1 + fullest.held.1 / 100);
    let second = seconds.iter().find(|second| second.held.0 <= level && level < second.held.1);
    second.or(fullest).map(|second| second.connect_p50_us)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_found_in_its_second() {
        let second = |from, to, connect_p50_us| Second { held: (from, to), connect_p50_us };
        let seconds = [
            second(0, 1_000, 10.0),
            second(1_000, 2_000, 12.0),
            second(2_000, 2_990, 14.0),
            // All close at the end, with one last opening.
            second(2_990, 0, 99.0),
        ];
        let check = |level, expected| assert_eq!(at_level(&seconds, level), expected, "{level}");
        check(0, Some(10.0));
        check(1_500, Some(12.0));
        check(3_000, Some(14.0));
        check(4_000, None);
        assert_eq!(at_level(&[], 0), None);
    }
}
