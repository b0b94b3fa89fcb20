//! `bench routing`: what stands between clients and servers, and what it costs: nothing, direct routing, NAT, `HAProxy`.
//!
//! One lab has all of them side by side in front of the same two servers. Packets that the kernel passes on are the work
//! of no process of the balancer, so what a way costs is told twice: the CPU time of the balancer's own processes, and
//! how much more the whole machine works for a request than without a balancer.

use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{Session, median, process};

/// Connections of the load, each asked again as soon as it has answered.
const CONNECTIONS: u32 = 64;

/// The ways, and where the load asks for them.
const WAYS: [(&str, &str); 5] = [
    ("no balancer", "http://web1:80/"),
    ("direct routing", "http://10.94.0.100:80/"),
    ("NAT", "http://10.94.0.101:81/"),
    ("HAProxy, TCP", "http://lb1:8081/"),
    ("HAProxy, HTTP", "http://lb1:8082/"),
];

const LAB: &str = "wavetank_lab: 1
name: bench-routing
networks: {web: 10.94.0.0/24}
hosts:
  load1: {role: load, networks: [web]}
  lb1:
    role: balancer
    networks: {web: {address: 10.94.0.10}}
    services:
      - direct_routing: {address: 10.94.0.100, listen: 80, servers: \"web[1-2]\"}
      - nat: {address: 10.94.0.101, listen: 81, servers: \"web[1-2]:80\"}
      - haproxy: {name: tcp, mode: tcp, listen: 8081, servers: \"web[1-2]:80\", connections: 1k}
      - haproxy: {name: http, mode: http, listen: 8082, servers: \"web[1-2]:80\", connections: 1k}
  web[1-2]:
    role: server
    networks: [web]
    services:
      - serve: {listen: 80}
";

/// A lab that is up until it is dropped.
struct Lab<'s> {
    session: &'s Session,
    /// The balancer's first process.
    balancer: u32,
}

/// What one turn came to.
#[derive(Clone, Copy)]
struct Turn {
    per_second: f64,
    /// CPU time of the balancer's processes for a request, µs.
    balancer_us: f64,
    /// CPU time of the whole machine for a request, µs.
    machine_us: f64,
}

/// Runs every way in every round and prints their medians side by side; no number is asked.
pub(super) fn run(session: &mut Session) -> Result<()> {
    for program in ["ip", "tc", "nft", "haproxy", "curl"] {
        if !session.has(program, "routing") {
            return Ok(());
        }
    }
    let rounds = session.size.rounds();
    let turns = {
        let lab = Lab::up(session)?;
        let mut turns = vec![Vec::new(); WAYS.len()];
        for round in 0..rounds {
            for place in 0..WAYS.len() {
                // Whoever comes first in one round comes last in the next.
                let way = (place + round) % WAYS.len();
                turns[way].push(lab.turn(WAYS[way].1)?);
            }
        }
        turns
    };
    println!(
        "\n{CONNECTIONS} connections, small answers; medians of {rounds} rounds of {} s",
        session.size.seconds()
    );
    println!(
        "{:<16} {:>11} {:>22} {:>20} {:>24}",
        "", "requests/s", "balancer's CPU, µs", "machine's CPU, µs", "more than without, µs"
    );
    let middle =
        |way: usize, of: fn(&Turn) -> f64| median(turns[way].iter().map(of).collect()).context("no round");
    let without = middle(0, |turn| turn.machine_us)?;
    let mut told = Vec::new();
    for (way, (name, _)) in WAYS.iter().enumerate() {
        let (rate, own) = (middle(way, |turn| turn.per_second)?, middle(way, |turn| turn.balancer_us)?);
        let more = middle(way, |turn| turn.machine_us)? - without;
        println!("{name:<16} {rate:>11.0} {own:>22.1} {:>20.1} {more:>24.1}", without + more);
        told.push((format!("routing: {name}"), format!("{rate:.0}/s, {more:.1} µs more than without")));
    }
    for (number, measured) in told {
        session.score(number, "none".to_owned(), measured, None);
    }
    Ok(())
}

impl<'s> Lab<'s> {
    fn up(session: &'s Session) -> Result<Self> {
        std::fs::write(session.folder.path().join("routing.yaml"), LAB).context("a topology file")?;
        let mut lab = Self { session, balancer: 0 };
        lab.wavetank(&["up", "routing.yaml"])?;
        let status: Value = serde_json::from_slice(&lab.wavetank(&["status", "--format", "json"])?.stdout)?;
        let hosts = status["labs"][0]["hosts"].as_array().context("a lab with hosts")?;
        let balancer = hosts.iter().find(|host| host["name"] == "lb1").and_then(|host| host["pid"].as_u64());
        lab.balancer = balancer.and_then(|pid| u32::try_from(pid).ok()).context("lb1 has a process")?;
        Ok(lab)
    }

    fn turn(&self, url: &str) -> Result<Turn> {
        let program = self.session.wavetank.to_string_lossy();
        let length = format!("{}s", self.session.size.seconds());
        let words = [
            "exec",
            "load1",
            "--",
            &program,
            "run",
            url,
            "-c",
            &CONNECTIONS.to_string(),
            "-d",
            &length,
            "--format",
            "json",
        ];
        let seen_before = self.seen()?;
        let before = (process::machine_busy_s(), self.balancer_s());
        let output = self.wavetank(&words)?;
        let after = (process::machine_busy_s(), self.balancer_s());
        let result: Value = serde_json::from_slice(&output.stdout).context("the run's result")?;
        let requests = &result["requests"];
        let done = requests["done"]
            .as_f64()
            .filter(|done| *done > 0.0)
            .with_context(|| format!("{url}: {requests}"))?;
        if requests["failed"] != 0 {
            bail!("{url}: {requests}");
        }
        // A question before the load, and at its end one on each connection, are not among those done.
        let beyond = (self.seen()? - seen_before) as f64 - done;
        if !(0.0..=f64::from(CONNECTIONS) + 1.0).contains(&beyond) {
            bail!("{url}: {done} requests are done by the load's count, {beyond} more by the servers'");
        }
        let per_request = |seconds: f64| seconds * 1e6 / done;
        Ok(Turn {
            per_second: done / f64::from(self.session.size.seconds()),
            balancer_us: per_request(after.1 - before.1),
            machine_us: per_request(after.0 - before.0),
        })
    }

    /// Requests that the servers have counted, those that ask for the count left out.
    fn seen(&self) -> Result<u64> {
        let mut all = 0;
        for host in ["web1", "web2"] {
            let words = ["exec", host, "--", "curl", "--silent", "--fail", "http://127.0.0.1:80/truth"];
            let truth: Value = serde_json::from_slice(&self.wavetank(&words)?.stdout).context("/truth")?;
            all += truth["requests"].as_u64().context("a count of requests")?;
        }
        Ok(all)
    }

    fn balancer_s(&self) -> f64 {
        process::cpu_s(&process::family(self.balancer))
    }

    fn wavetank(&self, words: &[&str]) -> Result<Output> {
        let folder = self.session.folder.path();
        let mut command = Command::new(&self.session.wavetank);
        command.arg("lab").args(words).current_dir(folder).env("WAVETANK_LABS", folder.join("labs"));
        let output = command.stdin(Stdio::null()).output().context("wavetank lab")?;
        if !output.status.success() {
            bail!("wavetank lab {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(output)
    }
}

impl Drop for Lab<'_> {
    fn drop(&mut self) {
        if self.balancer == 0 {
            // It never came up, and has said so.
            return;
        }
        if let Err(error) = self.wavetank(&["down"]) {
            println!("{error:#}");
        }
    }
}
