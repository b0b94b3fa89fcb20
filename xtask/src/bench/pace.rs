//! `bench pace`: send lag of an open load beside a bare sleep-and-spin loop on the same CPU.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::child::{Used, measure};
use super::lateness::{Lateness, micros};
use super::stamps::{StampServer, against_schedule};
use super::{Session, Size, median};

/// Arrivals a second, even.
const RATE: u32 = 5_000;
/// Most of one CPU the load thread may use.
const CPU_SHARE_MAX: f64 = 0.40;

/// One round: the probe, the load, and what the target saw of it.
struct Round {
    probe_p99_us: f64,
    probe_p99_9_us: f64,
    lag_p99_us: f64,
    lag_p99_9_us: f64,
    /// How late requests arrived at the target against the even schedule.
    arrival_p99_us: f64,
    /// Share of one CPU that the whole process used.
    cpu_share: f64,
    /// Requests that went out, as the generator says.
    sent: u64,
    /// Requests that came, as the target saw.
    arrived: u64,
}

/// Runs all rounds; an error where a number misses its target.
pub(super) fn run(session: &mut Session) -> Result<()> {
    let seconds = if session.size.smoke { 1 } else { 10 };
    println!("\nload       {}", load_words(session, "URL", seconds).join(" "));
    println!("probe      sleep and spin, {RATE} deadlines a second, {seconds} s, same CPU");
    println!(
        "round      lag p99 µs  probe p99 µs  lag p99.9 µs  probe p99.9 µs  arrival p99 µs  CPU share      sent   arrived"
    );
    let mut rounds = Vec::new();
    for index in 0..session.size.rounds() {
        let round = run_round(session, seconds)?;
        let Round { probe_p99_us, probe_p99_9_us, lag_p99_us, lag_p99_9_us, arrival_p99_us, .. } = round;
        println!(
            "{:<10} {lag_p99_us:>10.1}  {probe_p99_us:>12.1}  {lag_p99_9_us:>12.1}  {probe_p99_9_us:>14.1}  \
             {arrival_p99_us:>14.1}  {:>9.3}  {:>8}  {:>8}",
            index + 1,
            round.cpu_share,
            round.sent,
            round.arrived
        );
        rounds.push(round);
    }
    let missed = judge(session.size, &rounds)?;
    if let Some(round) = rounds.iter().find(|round| round.sent != round.arrived) {
        bail!("sent {}, but the target saw {}", round.sent, round.arrived);
    }
    if !missed.is_empty() && !session.size.smoke {
        bail!("missed: {}", missed.join("; "));
    }
    Ok(())
}

fn load_words(session: &Session, url: &str, seconds: u32) -> Vec<String> {
    let line = format!(
        "{} run {url} -r {RATE}/s -d {seconds}s -c 64 --threads 1 --engine epoll --no-probe --format json --runs-dir {}",
        session.wavetank.display(),
        session.folder.path().join("runs").display()
    );
    line.split(' ').map(str::to_owned).collect()
}

fn run_round(session: &Session, seconds: u32) -> Result<Round> {
    let usage = session.folder.path().join("usage.json");
    let probe = ["/proc/self/exe", "probe", "--rate", &RATE.to_string(), "--seconds", &seconds.to_string()];
    let probe = measure(&probe.map(str::to_owned), session.cpus.generator, &usage, &[])?;
    let probe: Value = serde_json::from_str(&probe.stdout).context("the probe")?;
    let server = StampServer::start(session.cpus.target)?;
    let words = load_words(session, &server.url(), seconds);
    let used = measure(&words, session.cpus.generator, &usage, &[1, 3, 4])?;
    let stamps = server.into_stamps()?;
    let arrived = stamps.len() as u64;
    let arrivals = Lateness::of(against_schedule(&stamps, Duration::from_secs(1) / RATE));
    let arrivals = arrivals.context("nothing arrived at the target")?;
    let run = run_json(&used)?;
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

fn run_json(used: &Used) -> Result<Value> {
    serde_json::from_str(&used.stdout).with_context(|| format!("no JSON: {}{}", used.stdout, used.stderr))
}

/// Prints each number beside its target; what was missed.
fn judge(size: Size, rounds: &[Round]) -> Result<Vec<String>> {
    let middle = |of: fn(&Round) -> f64| median(rounds.iter().map(of).collect()).context("no round");
    let lag_p99 = middle(|round| round.lag_p99_us)?;
    let lag_p99_9 = middle(|round| round.lag_p99_9_us)?;
    // A bound of the probe's own round: the machine is another one from minute to minute.
    let against_p99 = middle(|round| round.lag_p99_us / (1.3 * round.probe_p99_us).max(100.0))?;
    let against_p99_9 = middle(|round| round.lag_p99_9_us / (1.5 * round.probe_p99_9_us).max(500.0))?;
    let cpu = middle(|round| round.cpu_share)?;
    let arrival = middle(|round| round.arrival_p99_us)?;
    let lines = [
        (
            format!("lag p99    {lag_p99:.1} µs, {against_p99:.2} of max(100 µs, 1.3 × probe)"),
            against_p99 <= 1.0,
        ),
        (
            format!("lag p99.9  {lag_p99_9:.1} µs, {against_p99_9:.2} of max(500 µs, 1.5 × probe)"),
            against_p99_9 <= 1.0,
        ),
        (
            format!("CPU        {:.0} % of a core, at most {:.0} %", cpu * 100.0, CPU_SHARE_MAX * 100.0),
            cpu <= CPU_SHARE_MAX,
        ),
        (
            format!("stamps     p99 {arrival:.1} µs behind the schedule at the target; lag {lag_p99:.1} µs"),
            stamps_agree(arrival, lag_p99),
        ),
    ];
    let mut missed = Vec::new();
    for (line, held) in lines {
        println!("{line}: {}", size.verdict(held));
        if !held {
            missed.push(line);
        }
    }
    Ok(missed)
}

/// Whether what the target saw bears out the lag the generator tells: sending and receiving cost tens of µs beside
/// it, and now and then an interrupt on the target's CPU; more would be lag that was not told.
fn stamps_agree(arrival_p99_us: f64, lag_p99_us: f64) -> bool {
    arrival_p99_us <= 1.5 * lag_p99_us + 150.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Size = Size { rounds: None, smoke: false };

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

    #[test]
    fn what_is_missed_is_named() {
        assert!(judge(FULL, &[round(40.0)]).expect("has a round").is_empty());
        let missed = judge(FULL, &[round(400.0)]).expect("has a round");
        assert_eq!(missed.len(), 2, "{missed:?}");
        assert!(judge(FULL, &[]).is_err());
    }

    #[test]
    fn lag_that_was_not_told_shows_at_the_target() {
        assert!(stamps_agree(180.0, 40.0));
        assert!(!stamps_agree(5_000.0, 40.0));
    }
}
