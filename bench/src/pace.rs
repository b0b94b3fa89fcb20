//! `bench pace`: send lag of an open load, compared with a bare sleep-and-spin loop on the same
//! CPU.

use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::Value;

use crate::command_text::shown;
use crate::engine::Engine;
use crate::lateness::{Lateness, micros};
use crate::meter::Job;
use crate::session::Session;
use crate::stamps::{StampServer, against_schedule};
use crate::stats::median;

/// Up to this many arrivals per second all numbers are judged, above it only the lag at p99.
const RATE_GENTLE: u32 = 5_000;
/// Most of one CPU the load thread may use at a gentle rate.
const CPU_SHARE_MAX: f64 = 0.40;

/// `cargo xtask bench pace`.
#[derive(Args)]
pub(crate) struct PaceArguments {
    /// Our driver.
    #[arg(long, default_value = "uring")]
    engine: Engine,
    /// Arrivals per second, a row for each number.
    #[arg(long, value_delimiter = ',', default_value = "5000,20000,50000")]
    rate: Vec<u32>,
}

impl PaceArguments {
    /// Returns arguments for all rates on one engine.
    pub(crate) fn for_engine(engine: Engine) -> Self {
        Self { engine, rate: vec![RATE_GENTLE, 20_000, 50_000] }
    }
}

/// One row: a rate on an engine.
#[derive(Clone, Copy)]
struct Pace {
    rate: u32,
    seconds: u32,
    engine: Engine,
}

/// One round: the probe, the load, and the target's observations.
struct Round {
    probe_p99_us: f64,
    probe_p99_9_us: f64,
    lag_p99_us: f64,
    lag_p99_9_us: f64,
    /// Lateness of the requests at the target, relative to the even schedule.
    arrival_p99_us: f64,
    /// Share of one CPU that the whole process used.
    cpu_share: f64,
    /// Requests sent, by the generator's count.
    sent: u64,
    /// Requests received, by the target's count.
    arrived: u64,
}

impl Round {
    fn counts_agree(&self) -> bool {
        self.sent == self.arrived
    }
}

/// Runs all rounds of all rates.
pub(crate) fn run(session: &mut Session, arguments: &PaceArguments) -> Result<()> {
    if !arguments.engine.usable(session, "pace")? {
        return Ok(());
    }
    for &rate in &arguments.rate {
        let pace = Pace { rate, seconds: session.size.choose(2, 1), engine: arguments.engine };
        row(session, pace)?;
    }
    Ok(())
}

fn row(session: &mut Session, pace: Pace) -> Result<()> {
    let Pace { rate, seconds, .. } = pace;
    println!("\nload       {}", shown(&load_words(session, "URL", pace)));
    println!("probe      sleep and spin, {rate} deadlines a second, {seconds} s, same CPU");
    println!(
        "round      lag p99 µs  probe p99 µs  lag p99.9 µs  probe p99.9 µs  arrival p99 µs  CPU share      sent   arrived"
    );
    let mut rounds = Vec::new();
    for index in 0..session.size.rounds() {
        let round = run_round(session, pace)?;
        let Round { probe_p99_us, probe_p99_9_us, lag_p99_us, lag_p99_9_us, arrival_p99_us, .. } = round;
        println!(
            "{:<10} {lag_p99_us:>10.1}  {probe_p99_us:>12.1}  {lag_p99_9_us:>12.1}  {probe_p99_9_us:>14.1}  \
             {arrival_p99_us:>14.1}  {:>9.3}  {:>8}  {:>8}{}",
            index + 1,
            round.cpu_share,
            round.sent,
            round.arrived,
            if round.counts_agree() { "" } else { "  VOID: the counts differ" }
        );
        rounds.push(round);
    }
    rounds.retain(Round::counts_agree);
    judge(session, pace, &rounds);
    Ok(())
}

fn load_words(session: &Session, url: &str, pace: Pace) -> Vec<String> {
    let Pace { rate, seconds, engine } = pace;
    let line = format!(
        "{} run {url} -r {rate}/s -d {seconds}s -c 64 --threads 1 --engine {} --no-probe --format json --runs-dir {}",
        session.wavetank.display(),
        engine.name(),
        session.folder.path().join("runs").display()
    );
    line.split(' ').map(str::to_owned).collect()
}

fn run_round(session: &Session, pace: Pace) -> Result<Round> {
    let Pace { rate, seconds, .. } = pace;
    let helper = std::env::current_exe().context("cannot find this program")?.display().to_string();
    let words = [&helper, "probe", "--rate", &rate.to_string(), "--seconds", &seconds.to_string()];
    let probe = Job { words: &words.map(str::to_owned), fine: &[], seconds, cycles_of: &[] }.run(session)?;
    let probe: Value = serde_json::from_str(&probe.stdout).context("the probe")?;
    let server = StampServer::start(session.cpus.target)?;
    let words = load_words(session, &server.url(), pace);
    let used = Job { words: &words, fine: &[1, 3, 4], seconds, cycles_of: &[] }.run(session);
    // The stamping thread must end before an error is returned.
    let stamps = server.into_stamps()?;
    let used = used?;
    let arrived = stamps.len() as u64;
    let arrivals = Lateness::from_samples(against_schedule(&stamps, Duration::from_secs(1) / rate));
    let arrivals = arrivals.context("nothing arrived at the target")?;
    let run: Value = serde_json::from_str(&used.stdout)
        .with_context(|| format!("no JSON: {}{}", used.stdout, used.stderr))?;
    let number =
        |value: &Value| value.as_f64().with_context(|| format!("not a number in the run's JSON: {value}"));
    Ok(Round {
        probe_p99_us: number(&probe["p99"])?,
        probe_p99_9_us: number(&probe["p99_9"])?,
        lag_p99_us: number(&run["lag_us"]["p99"])?,
        lag_p99_9_us: number(&run["lag_us"]["p99_9"])?,
        arrival_p99_us: micros(arrivals.p99),
        cpu_share: used.cpu_us / 1e6 / f64::from(seconds),
        sent: run["wire"]["sent"].as_u64().context("wire.sent")?,
        arrived,
    })
}

/// Puts each number on the score sheet with its target.
fn judge(session: &mut Session, pace: Pace, rounds: &[Round]) {
    let on = format!("at {}/s on {}", pace.rate, pace.engine.name());
    let middle = |of: fn(&Round) -> f64| median(rounds.iter().map(of).collect());
    let p99_target = "≤ max(100 µs, 1.3 × probe)".to_owned();
    let Some(lag_p99) = middle(|round| round.lag_p99_us) else {
        session.broken(format!("lag p99 {on}"), p99_target, "the counts differ in every round".to_owned());
        return;
    };
    let unless_none = |of| middle(of).unwrap_or(f64::NAN);
    // Each round is compared with its own probe, since the machine's speed changes from minute to
    // minute.
    let against_p99 = unless_none(|round| round.lag_p99_us / (1.3 * round.probe_p99_us).max(100.0));
    let against_p99_9 = unless_none(|round| round.lag_p99_9_us / (1.5 * round.probe_p99_9_us).max(500.0));
    let lag_p99_9 = unless_none(|round| round.lag_p99_9_us);
    let cpu = unless_none(|round| round.cpu_share);
    let arrival = unless_none(|round| round.arrival_p99_us);
    let gentle = |met: bool| (pace.rate <= RATE_GENTLE).then_some(met);
    let share = |ratio: f64| format!("{ratio:.2} of it");
    let mut score = |what: &str, measured: String, target: String, met| {
        session.score(format!("{what} {on}"), target, measured, met);
    };
    score(
        "lag p99",
        format!("{lag_p99:.1} µs, {}", share(against_p99)),
        p99_target,
        Some(against_p99 <= 1.0),
    );
    score(
        "lag p99.9",
        format!("{lag_p99_9:.1} µs, {}", share(against_p99_9)),
        "≤ max(500 µs, 1.5 × probe)".to_owned(),
        gentle(against_p99_9 <= 1.0),
    );
    score(
        "CPU of a core",
        format!("{:.0} %", cpu * 100.0),
        format!("≤ {:.0} %", CPU_SHARE_MAX * 100.0),
        gentle(cpu <= CPU_SHARE_MAX),
    );
    score(
        "stamps p99 behind the schedule at the target",
        format!("{arrival:.1} µs"),
        "≤ 1.5 × lag + 150 µs".to_owned(),
        gentle(stamps_agree(arrival, lag_p99)),
    );
}

/// Returns whether the target's timestamps agree with the lag that the generator reports. Sending
/// and receiving cost tens of µs more, plus an occasional interrupt on the target's CPU. A larger
/// difference means unreported lag.
fn stamps_agree(arrival_p99_us: f64, lag_p99_us: f64) -> bool {
    arrival_p99_us <= 1.5 * lag_p99_us + 150.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(lag_p99_us: f64) -> Round {
        Round {
            probe_p99_us: 20.0,
            probe_p99_9_us: 60.0,
            lag_p99_us,
            lag_p99_9_us: lag_p99_us * 2.0,
            arrival_p99_us: 60.0,
            cpu_share: 0.3,
            sent: 50_000,
            arrived: 50_000,
        }
    }

    /// Checks the statuses of the scores, in order.
    fn check(rate: u32, rounds: &[Round], expected: &[&str]) {
        let mut session = Session::for_tests();
        judge(&mut session, Pace { rate, seconds: 1, engine: Engine::Epoll }, rounds);
        let words: Vec<&str> = session.scores.iter().map(|score| score.standing.word()).collect();
        assert_eq!(words, expected);
    }

    #[test]
    fn what_is_missed_is_named() {
        check(5_000, &[round(40.0)], &["met"; 4]);
        check(5_000, &[round(400.0)], &["MISSED", "MISSED", "met", "met"]);
        check(50_000, &[round(400.0)], &["MISSED", "not judged", "not judged", "not judged"]);
        check(5_000, &[], &["BROKEN"]);
    }

    #[test]
    fn unreported_lag_shows_at_the_target() {
        assert!(stamps_agree(180.0, 40.0));
        assert!(!stamps_agree(5_000.0, 40.0));
    }
}
