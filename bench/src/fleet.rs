//! `bench fleet`: what four load hosts cost their coordinator, and how far apart they start,
//! compared with Locust and Tsung in the same lab.
//!
//! Wavetank has an agent and Locust a worker on each of four load hosts. Tsung has four virtual
//! machines on the coordinator's host, since it reaches others by ssh only. All of them send the
//! same rate. The coordinator's CPU time includes its start.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::child;
use crate::claims::ReportedResult;
use crate::counts;
use crate::goal::Goal;
use crate::locust;
use crate::namespace;
use crate::paired_rounds::{PairedRounds, Turn};
use crate::process;
use crate::session::Session;
use crate::stopwatch::Stopwatch;
use crate::tsung;

/// Load hosts.
const AGENTS: u64 = 4;
/// Requests per second of all of them together. Four Locust workers reach it on two CPUs.
const RATE: u64 = 1_000;
/// Requests per second of a user of Locust.
const USER_RATE: u64 = 10;
/// Most time between the first and the last start of an agent.
const SKEW_MAX_US: f64 = 2_000.0;
/// Seconds that a command may take beyond the load.
const GRACE_SECONDS: f64 = 60.0;
const TOPOLOGY: &str = "\
wavetank_lab: 1
name: bench-fleet
networks:
  front: 10.31.0.0/24
hosts:
  control: {networks: [front]}
  load[1-4]: {role: load, networks: [front]}
  app1:
    role: server
    networks: [front]
    services:
      - serve: {listen: 8080}
";

/// A lab that is up. Dropping it takes it down.
struct Lab<'a> {
    session: &'a Session,
    file: String,
}

/// What a run of ours reports.
struct Report {
    offered: u64,
    done: u64,
    start_skew_us: Option<f64>,
}

/// Compares the coordinators, and then one load host with four.
pub(crate) fn run(session: &mut Session, locust: Option<&Path>) -> Result<()> {
    if let Err(error) = namespace::possible() {
        session.skip(format!("bench fleet: {error:#}"));
        return Ok(());
    }
    for program in ["ip", "tc", "nft", "curl"] {
        if !session.has(program, "fleet") {
            return Ok(());
        }
    }
    let has_tsung = session.has("tsung", "fleet with Tsung");
    let seconds = session.size.choose(10, 3);
    let mut names = vec!["wavetank"];
    names.extend(locust.map(|_| "locust"));
    names.extend(has_tsung.then_some("tsung"));
    let contest = PairedRounds {
        number: format!("of the coordinator of {AGENTS} load hosts at {RATE}/s"),
        names: names.clone(),
        goal: Goal::None,
        unit: "request",
    };
    let mut reports = Vec::new();
    contest.run(session, |session, place| {
        let lab = Lab::up(session)?;
        let before = lab.count()?;
        let (cpu_us, claim) = match (names[place], locust) {
            ("locust", Some(program)) => lab.locust(program, seconds)?,
            ("tsung", _) => lab.tsung(seconds)?,
            _ => {
                let (cpu_us, report) = lab.ours(seconds, true)?;
                let claim = ReportedResult { done: report.done, sent: report.done, exact: true };
                reports.push(report);
                (cpu_us, claim)
            }
        };
        let seen = lab.count()? - before;
        let void = claim.doubt(seen, (RATE / USER_RATE) as usize);
        println!("{:<10} target got {:.1} % of {RATE}/s", names[place], percent(seen, seconds));
        Ok(Turn { done: seen, cpu_us, cycles: None, peak_rss_bytes: 0, void })
    })?;
    let one = Lab::up(session)?.ours(seconds, false)?.1;
    judge(session, &reports, &one);
    Ok(())
}

/// Share of the rate that the target received.
fn percent(requests: u64, seconds: u64) -> f64 {
    requests as f64 * 100.0 / (RATE * seconds) as f64
}

impl<'a> Lab<'a> {
    fn up(session: &'a Session) -> Result<Self> {
        let file = session.folder.path().join("fleet-lab.yaml");
        std::fs::write(&file, TOPOLOGY).context("the topology")?;
        let lab = Self { session, file: file.to_string_lossy().into_owned() };
        output(&mut lab.command(&["up", &lab.file]))?;
        Ok(lab)
    }

    /// Returns `wavetank lab WORDS`.
    fn command(&self, words: &[&str]) -> Command {
        let folder = self.session.folder.path();
        let mut command = Command::new(&self.session.wavetank);
        command.arg("lab").args(words).stdin(Stdio::null());
        command.env("WAVETANK_LABS", folder.join("labs")).env("WAVETANK_RUNS", folder.join("runs"));
        command
    }

    /// Returns the requests that the target has received.
    fn count(&self) -> Result<u64> {
        let words = ["exec", "app1", "--", "curl", "-sf", "http://app1:8080/truth"];
        counts::truth(&output(&mut self.command(&words))?)
    }

    /// Runs our load with or without agents. Returns the CPU time of the controller, too.
    fn ours(&self, seconds: u64, with_agents: bool) -> Result<(f64, Report)> {
        let file = self.session.folder.path().join("fleet.json");
        let (rate, length) = (format!("{RATE}/s"), format!("{seconds}s"));
        let mut command = self.command(&["run", &self.file, "http://app1:8080/", "-r", &rate, "-d", &length]);
        command.args(["--format", "json", "--quiet"]).args(with_agents.then_some("--agents"));
        let output = std::fs::File::create(&file).context("fleet.json")?;
        let mut controller = command.stdout(output).spawn().context("wavetank")?;
        let cpu_us = cpu_until_end(&mut controller, seconds)?;
        let text = std::fs::read_to_string(&file).context("fleet.json")?;
        Ok((cpu_us, Report::read(&serde_json::from_str(&text).context("the run's JSON")?)?))
    }

    /// Runs a Locust worker on each load host, and the master on another.
    fn locust(&self, program: &Path, seconds: u64) -> Result<(f64, ReportedResult)> {
        let file = self.session.folder.path().join("fleet_locust.py");
        std::fs::write(&file, locust::steady_users(USER_RATE)).context("the file of Locust")?;
        let (program, file) = (program.display(), file.display());
        let mut workers = Vec::new();
        for number in 1..=AGENTS {
            let line = format!("{program} --worker --master-host control -f {file} --loglevel ERROR");
            let mut worker = self.command(&["exec", &format!("load{number}"), "--", "sh", "-c", &line]);
            workers.push(worker.stdout(Stdio::null()).stderr(Stdio::null()).spawn().context("a worker")?);
        }
        let users = RATE / USER_RATE;
        let master = format!(
            "{program} --master --headless --expect-workers {AGENTS} -u {users} -r {users} -t {seconds}s \
             --host http://app1:8080 -f {file} --only-summary --json --loglevel ERROR; times"
        );
        let output = output(&mut self.command(&["exec", "control", "--", "sh", "-c", &master]));
        // They end with the master. If it failed, they wait for it forever.
        for mut worker in workers {
            if output.is_err() {
                let _ = worker.kill();
            }
            worker.wait().context("a worker")?;
        }
        let output = output?;
        Ok((shell_times_us(&output)?, locust::claim(&output)?))
    }

    /// Runs four virtual machines of Tsung on the coordinator's host.
    fn tsung(&self, seconds: u64) -> Result<(f64, ReportedResult)> {
        let (line, logs) = tsung::fleet(self.session, "10.31.0.6:8080".parse()?, (RATE, seconds), AGENTS)?;
        let shell = format!("{line}; times");
        let output = output(&mut self.command(&["exec", "control", "--", "sh", "-c", &shell]))?;
        Ok((shell_times_us(&output)?, tsung::fleet_claim(&logs)?))
    }
}

impl Drop for Lab<'_> {
    fn drop(&mut self) {
        let _ = output(&mut self.command(&["down"]));
    }
}

/// Runs a command, which must succeed, and returns what it prints.
fn output(command: &mut Command) -> Result<String> {
    let output = command.output().context("wavetank")?;
    if !output.status.success() {
        bail!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    String::from_utf8(output.stdout).context("not UTF-8")
}

/// Reads the CPU time of a process until it ends. The part after the last reading, at most 50 ms,
/// is missing.
fn cpu_until_end(process: &mut Child, seconds: u64) -> Result<f64> {
    let (watch, mut cpu_s) = (Stopwatch::start(), 0.0_f64);
    while !child::ends_within(process, 50)? {
        cpu_s = cpu_s.max(process::cpu_s(&[process.id()]));
        if watch.elapsed().as_secs_f64() > seconds as f64 + GRACE_SECONDS {
            let _ = process.kill();
            let _ = process.wait();
            bail!("the run did not end");
        }
    }
    let status = process.wait().context("wavetank")?;
    // Exit codes 1, 3 and 4 mean that the run completed.
    if !matches!(status.code(), Some(0 | 1 | 3 | 4)) {
        bail!("the run ended with {status}");
    }
    Ok(cpu_s * 1e6)
}

/// Reads the last line of the shell's `times`: user and system time of its children, as
/// `0m0.350000s 0m0.060000s`.
fn shell_times_us(output: &str) -> Result<f64> {
    let line = output.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let seconds = |word: &str| -> Option<f64> {
        let (minutes, seconds) = word.strip_suffix('s')?.split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    };
    let both: Option<Vec<f64>> = line.split_whitespace().map(seconds).collect();
    match both.as_deref() {
        Some([user, system]) => Ok((user + system) * 1e6),
        _ => bail!("no times of a shell: {line}"),
    }
}

impl Report {
    fn read(run: &Value) -> Result<Self> {
        let count = |name: &str| run["requests"][name].as_u64().with_context(|| format!("requests.{name}"));
        let start_skew_us = run["fleet"]["start_skew_us"].as_f64();
        Ok(Self { offered: count("offered")?, done: count("done")?, start_skew_us })
    }
}

/// Puts the largest skew and the difference to one load host on the score sheet.
fn judge(session: &mut Session, reports: &[Report], one: &Report) {
    let skews: Vec<f64> = reports.iter().filter_map(|report| report.start_skew_us).collect();
    let largest = skews.iter().copied().fold(0.0, f64::max);
    let is_met = skews.len() == reports.len() && largest <= SKEW_MAX_US;
    session.score(
        format!("start skew of {AGENTS} agents on one machine, largest of {} runs", reports.len()),
        format!("≤ {SKEW_MAX_US:.0} µs"),
        format!("{largest:.1} µs, {} runs without it", reports.len() - skews.len()),
        Some(is_met),
    );
    let different = reports.iter().filter(|report| report.offered != one.offered).count();
    session.score(
        format!("requests that {AGENTS} agents offer, and the threads of one process"),
        "identical".to_owned(),
        format!("{} offered; different in {different} of {} runs", one.offered, reports.len()),
        Some(different == 0),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_a_shell_are_read() {
        let check = |output: &str, expected: Option<f64>| {
            assert_eq!(shell_times_us(output).ok(), expected, "{output}");
        };
        check("done\n0m0.000000s 0m0.000000s\n1m0.500000s 0m0.250000s\n\n", Some(60_750_000.0));
        check("done\n", None);
        check("0m0.5s\n", None);
    }

    #[test]
    fn skew_and_offered_requests_are_judged() {
        let check = |start_skew_us: Option<f64>, offered: u64, expected: [&str; 2]| {
            let mut session = Session::for_tests();
            let report = |offered, start_skew_us| Report { offered, done: offered, start_skew_us };
            judge(&mut session, &[report(offered, start_skew_us)], &report(10, None));
            let words: Vec<&str> = session.scores.iter().map(|score| score.standing.word()).collect();
            assert_eq!(words, expected);
        };
        check(Some(1_999.0), 10, ["met", "met"]);
        check(Some(2_001.0), 10, ["MISSED", "met"]);
        check(None, 9, ["MISSED", "MISSED"]);
    }
}
