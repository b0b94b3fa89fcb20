//! `bench watch`: what it costs a run to be watched, in paired rounds at 80 % of the generator's
//! limit.
//!
//! A watched run has its view on a terminal of 160×50, a page with an open stream of events, and
//! three outputs of metrics. Its process, the view included, has one CPU. The page, its client and
//! the scraper share the target's CPU.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde_json::Value;

use crate::child;
use crate::cpus;
use crate::engine::Engine;
use crate::meter::Job;
use crate::server::{Server, free_address};
use crate::session::Session;
use crate::stats::{interval_of_median, median};
use crate::stopwatch::Stopwatch;

/// Share of the limit that the load uses.
const LOAD_SHARE: f64 = 0.8;
/// Most CPU of load threads per request, watched relative to unwatched.
const CPU_RATIO_MAX: f64 = 1.02;
/// Most lag at p99, watched relative to unwatched.
const LAG_RATIO_MAX: f64 = 1.1;
/// Longest time until the page lists a run that has started.
const PATIENCE: Duration = Duration::from_secs(10);

/// `cargo xtask bench watch`.
#[derive(Args)]
pub(crate) struct WatchArguments {
    /// Our driver.
    #[arg(long, default_value = "uring")]
    engine: Engine,
}

impl WatchArguments {
    /// Returns the arguments that `bench all` uses.
    pub(crate) fn for_engine(engine: Engine) -> Self {
        Self { engine }
    }
}

/// The load of every turn.
struct Load<'a> {
    server: &'a Server,
    engine: Engine,
    rate: u64,
    seconds: u32,
}

/// What one run reports of itself.
#[derive(Clone, Copy)]
struct Turn {
    offered: u64,
    done: u64,
    /// CPU time of load threads per request.
    cpu_us: f64,
    lag_p99_us: f64,
}

/// One run without and one with watchers.
struct Round {
    unwatched: Turn,
    watched: Turn,
    /// Intervals that the page's client received.
    page_events: usize,
    /// Scrapes that returned metrics.
    scrapes: usize,
}

/// Measures the limit, and then runs all rounds.
pub(crate) fn run(session: &mut Session, arguments: &WatchArguments) -> Result<()> {
    let engine = arguments.engine;
    if !session.has("script", "watch") || !session.has("curl", "watch") || !engine.usable(session, "watch")? {
        return Ok(());
    }
    let server = Server::wavetank(session, engine)?;
    let seconds = session.size.seconds().max(4);
    let limit = limit(session, &server, engine, session.size.seconds())?;
    let rate = (limit * LOAD_SHARE / 100.0) as u64 * 100;
    println!("\ntarget     {}", server.command);
    println!("limit      {limit:.0} requests/s with 64 connections; load {rate}/s for {seconds} s");
    let load = Load { server: &server, engine, rate, seconds };
    println!("command    {}", load.command(session, &[]));
    let page = Page::open(session)?;
    println!(
        "round   CPU µs off      on   ratio   lag p99 µs off      on   ratio     offered off         on     done off         on  events  scrapes"
    );
    let mut rounds = Vec::new();
    for index in 0..session.size.rounds() {
        let round = load.round(session, &page, index % 2 == 1)?;
        println!("{}", line(index + 1, &round));
        rounds.push(round);
    }
    judge(session, &format!("at {:.0} % of the limit on {}", LOAD_SHARE * 100.0, engine.name()), &rounds);
    Ok(())
}

/// Returns the requests per second of a closed load.
fn limit(session: &Session, server: &Server, engine: Engine, seconds: u32) -> Result<f64> {
    let words = format!(
        "{} run {} -c 64 -d {seconds}s --threads 1 --engine {} --no-probe --format json --quiet --runs-dir {}",
        session.wavetank.display(),
        server.url(),
        engine.name(),
        session.folder.path().join("runs").display()
    );
    let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
    let used = Job { words: &words, fine: &[1, 3, 4], seconds, cycles_of: &[] }.run(session)?;
    let run: Value = serde_json::from_str(&used.stdout).context("the run's JSON")?;
    let done = run["requests"]["done"].as_u64().context("requests.done")?;
    Ok(done as f64 / f64::from(seconds))
}

impl Load<'_> {
    /// Returns the command line of a turn.
    fn command(&self, session: &Session, outputs: &[String]) -> String {
        let mut line = format!(
            "{} run {} -r {}/s -c 64 -d {}s --threads 1 --engine {} --no-probe --format json --runs-dir {}",
            session.wavetank.display(),
            self.server.url(),
            self.rate,
            self.seconds,
            self.engine.name(),
            session.folder.path().join("runs").display()
        );
        for output in outputs {
            line.push_str(" --metrics ");
            line.push_str(output);
        }
        line
    }

    /// Runs both turns. The order changes from round to round.
    fn round(&self, session: &Session, page: &Page, watched_first: bool) -> Result<Round> {
        let mut unwatched = None;
        if !watched_first {
            unwatched = Some(self.unwatched(session)?);
        }
        let (watched, page_events, scrapes) = self.watched(session, page)?;
        let unwatched = match unwatched {
            Some(turn) => turn,
            None => self.unwatched(session)?,
        };
        Ok(Round { unwatched, watched, page_events, scrapes })
    }

    fn unwatched(&self, session: &Session) -> Result<Turn> {
        self.turn(session, &format!("{} --quiet 2> /dev/null", self.command(session, &[])))
    }

    /// Runs a turn with all watchers. Returns the number of events and of scrapes, too.
    fn watched(&self, session: &Session, page: &Page) -> Result<(Turn, usize, usize)> {
        let (scraped, statsd) = (free_address()?, free_address()?);
        let lines = session.folder.path().join("metrics.jsonl");
        let outputs = [
            format!("prometheus={scraped}"),
            format!("statsd={statsd}"),
            format!("json={}", lines.display()),
        ];
        let command = self.command(session, &outputs);
        std::thread::scope(|scope| {
            let watchers = scope.spawn(|| page.follow(session, &format!("http://{scraped}/metrics")));
            let turn = self.turn(session, &command);
            let (events, scrapes) = watchers.join().expect("the watchers do not panic")?;
            Ok((turn?, events, scrapes))
        })
    }

    /// Runs one command on a terminal of its own. Its report is a file, since stdout is the
    /// terminal.
    fn turn(&self, session: &Session, command: &str) -> Result<Turn> {
        let report = session.folder.path().join("watched.json");
        let shell = format!("stty rows 50 cols 160; {command} > {}", report.display());
        let words = ["script", "-qec", &shell, "/dev/null"].map(str::to_owned);
        let job = Job { words: &words, fine: &[1, 3, 4], seconds: self.seconds, cycles_of: &[] };
        let before = self.server.count()?;
        job.run(session)?;
        let seen = self.server.count_since(before)?;
        let text = std::fs::read_to_string(&report).context("the report")?;
        let run: Value = serde_json::from_str(&text).with_context(|| format!("no JSON: {text}"))?;
        let turn = Turn::read(&run)?;
        if turn.done != seen {
            bail!("the run reports {} responses, and its target {seen}", turn.done);
        }
        Ok(turn)
    }
}

impl Turn {
    fn read(run: &Value) -> Result<Self> {
        let count = |name: &str| run["requests"][name].as_u64().with_context(|| format!("requests.{name}"));
        let done = count("done")?;
        let cpu_s = run["hosts"][0]["cpu_load_s"].as_f64().context("hosts[0].cpu_load_s")?;
        let lag_p99_us = run["lag_us"]["p99"].as_f64().context("lag_us.p99")?;
        Ok(Self { offered: count("offered")?, done, cpu_us: cpu_s * 1e6 / done as f64, lag_p99_us })
    }
}

/// A process of `wavetank ui`, with a session of curl.
struct Page {
    child: Child,
    /// Scheme, host and port.
    origin: String,
    cookies: PathBuf,
}

impl Page {
    /// Starts the page on the target's CPU, and opens a session by its address.
    fn open(session: &Session) -> Result<Self> {
        let mut command = Command::new(&session.wavetank);
        let runs = session.folder.path().join("runs");
        command.args(["ui", "--runs-dir"]).arg(&runs).arg("--dir").arg(session.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = cpus::spawn_on(session.cpus.target, &mut command)?;
        let mut line = String::new();
        let stdout = child.stdout.take().context("stdout is piped")?;
        BufReader::new(stdout).read_line(&mut line).context("the page's address")?;
        let cookies = session.folder.path().join("cookies");
        let origin = line.split("/?").next().unwrap_or_default().to_owned();
        let page = Self { child, origin, cookies };
        page.get(line.trim(), &["--cookie-jar"])?;
        Ok(page)
    }

    /// Returns the body of a response.
    fn get(&self, url: &str, cookie_options: &[&str]) -> Result<String> {
        let mut command = Command::new("curl");
        command.args(["--silent", "--fail", "--location", "--max-time", "5"]);
        for option in cookie_options {
            command.arg(option).arg(&self.cookies);
        }
        let output = command.arg(url).output().context("cannot start curl")?;
        if !output.status.success() {
            bail!("{url}: curl ended with {}", output.status);
        }
        String::from_utf8(output.stdout).context("not UTF-8")
    }

    /// Reads the stream of the run that starts next, and scrapes `metrics` once a second, until the
    /// run ends. Returns the number of events and of scrapes.
    fn follow(&self, session: &Session, metrics: &str) -> Result<(usize, usize)> {
        let run = self.running_run(session)?;
        let events = session.folder.path().join("events.txt");
        let mut command = Command::new("curl");
        command.args(["--silent", "--no-buffer", "--max-time", "120", "--cookie"]).arg(&self.cookies);
        command.arg(format!("{}/api/runs/{run}/live", self.origin));
        command.stdin(Stdio::null()).stdout(File::create(&events).context("events.txt")?);
        let mut client = cpus::spawn_on(session.cpus.target, &mut command)?;
        let mut scrapes = 0;
        // The stream ends with the run.
        while !child::ends_within(&client, 1_000)? {
            scrapes += usize::from(self.get(metrics, &[]).is_ok_and(|text| text.contains("wavetank_")));
        }
        client.wait().context("curl")?;
        let text = std::fs::read_to_string(&events).context("events.txt")?;
        Ok((text.lines().filter(|line| line.starts_with("data:")).count(), scrapes))
    }

    /// Returns the id of the running run.
    fn running_run(&self, session: &Session) -> Result<String> {
        let watch = Stopwatch::start();
        let url = format!("{}/api/runs", self.origin);
        while watch.elapsed() < PATIENCE {
            let list: Value = serde_json::from_str(&self.get(&url, &["--cookie"])?).context("/api/runs")?;
            let mut runs = list["running"].as_array().into_iter().flatten();
            if let Some(id) = runs.find_map(|run| run["id"].as_str()) {
                return Ok(id.to_owned());
            }
            child::ends_within(&self.child, 50)?;
        }
        bail!("no run in {}", session.folder.path().join("runs").display())
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn line(number: usize, round: &Round) -> String {
    let Round { unwatched, watched, page_events, scrapes } = round;
    format!(
        "{number:<5} {:>12.3} {:>7.3} {:>7.3} {:>16.1} {:>7.1} {:>7.3} {:>15} {:>10} {:>12} {:>10} {page_events:>7} {scrapes:>8}",
        unwatched.cpu_us,
        watched.cpu_us,
        watched.cpu_us / unwatched.cpu_us,
        unwatched.lag_p99_us,
        watched.lag_p99_us,
        watched.lag_p99_us / unwatched.lag_p99_us,
        unwatched.offered,
        watched.offered,
        unwatched.done,
        watched.done,
    )
}

/// Puts the three numbers on the score sheet.
fn judge(session: &mut Session, on: &str, rounds: &[Round]) {
    let different = rounds.iter().filter(|round| {
        let Round { unwatched, watched, .. } = round;
        (unwatched.offered, unwatched.done) != (watched.offered, watched.done)
    });
    let different = different.count();
    let target = "identical".to_owned();
    let measured = format!("different in {different} of {} rounds", rounds.len());
    session.score(format!("offered and done, watched or not, {on}"), target, measured, Some(different == 0));
    let mut ratio = |what: &str, most: f64, of: fn(&Turn) -> f64| {
        let ratios: Vec<f64> = rounds.iter().map(|round| of(&round.watched) / of(&round.unwatched)).collect();
        let (low, high) = interval_of_median(&ratios);
        let middle = median(ratios).unwrap_or(f64::NAN);
        let measured = format!("{middle:.3} × ({low:.3} to {high:.3}, 95 % of {} rounds)", rounds.len());
        session.score(
            format!("{what}, watched or not, {on}"),
            format!("≤ {most:.2} ×"),
            measured,
            Some(middle <= most),
        );
    };
    ratio("CPU of load threads per request", CPU_RATIO_MAX, |turn| turn.cpu_us);
    ratio("lag p99", LAG_RATIO_MAX, |turn| turn.lag_p99_us);
    let silent = rounds.iter().filter(|round| round.page_events == 0 || round.scrapes == 0).count();
    if silent > 0 {
        session.broken(format!("watchers, {on}"), "all".to_owned(), format!("none in {silent} rounds"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the statuses of the scores for one round, with the watched run's values.
    fn check(done: u64, cpu_us: f64, lag_p99_us: f64, page_events: usize, expected: &[&str]) {
        let unwatched = Turn { offered: 1_000, done: 1_000, cpu_us: 10.0, lag_p99_us: 20.0 };
        let watched = Turn { offered: 1_000, done, cpu_us, lag_p99_us };
        let mut session = Session::for_tests();
        judge(&mut session, "here", &[Round { unwatched, watched, page_events, scrapes: 1 }]);
        let words: Vec<&str> = session.scores.iter().map(|score| score.standing.word()).collect();
        assert_eq!(words, expected);
    }

    #[test]
    fn what_a_watcher_costs_is_named() {
        check(1_000, 10.1, 21.0, 3, &["met"; 3]);
        check(999, 10.3, 23.0, 3, &["MISSED"; 3]);
        check(1_000, 10.1, 21.0, 0, &["met", "met", "met", "BROKEN"]);
    }

    #[test]
    fn a_run_is_read() {
        let text =
            r#"{"requests":{"offered":4,"done":4},"hosts":[{"cpu_load_s":0.00002}],"lag_us":{"p99":3}}"#;
        let turn = Turn::read(&serde_json::from_str(text).expect("JSON")).expect("complete");
        assert_eq!((turn.offered, turn.done), (4, 4));
        assert!((turn.cpu_us - 5.0).abs() < 1e-9 && (turn.lag_p99_us - 3.0).abs() < 1e-9);
    }
}
