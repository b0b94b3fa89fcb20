//! `bench routing`: what stands between clients and servers, and what it costs: nothing, direct routing, NAT, `HAProxy`.
//!
//! One lab has all of them side by side in front of the same two servers. Packets that the kernel passes on are the work
//! of no process of the balancer: it works in interrupts, at the cost of whoever sent them. So what a way costs is taken in
//! two labs. In one everybody has all CPUs: requests per second, and how much more the whole machine works for a
//! request than without a balancer. In the other the balancer has a CPU to itself, to which what comes in at its interface
//! is handed over (receive packet steering), and the others have the rest: all that this CPU does, interrupts included, is
//! the balancer's, with the switch's work for what it sends.

use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{Session, cpus, median, process};

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

/// `ITS` and `REST` stand for limits of the balancer and of the others.
const LAB: &str = "wavetank_lab: 1
name: bench-routing
networks: {web: 10.94.0.0/24}
hosts:
  load1: {role: load, networks: [web], limits: {REST}}
  lb1:
    role: balancer
    networks: {web: {address: 10.94.0.10}}
    limits: {ITS}
    services:
      - direct_routing: {address: 10.94.0.100, listen: 80, servers: \"web[1-2]\"}
      - nat: {address: 10.94.0.101, listen: 81, servers: \"web[1-2]:80\"}
      - haproxy: {name: tcp, mode: tcp, listen: 8081, servers: \"web[1-2]:80\", connections: 1k}
      - haproxy: {name: http, mode: http, listen: 8082, servers: \"web[1-2]:80\", connections: 1k}
  web[1-2]:
    role: server
    networks: [web]
    limits: {REST}
    services:
      - serve: {listen: 80}
";

/// A lab that is up until it is dropped.
struct Lab<'s> {
    session: &'s Session,
    /// The balancer's own CPU and those of the others, where it has one.
    apart: Option<(usize, Vec<usize>)>,
    up: bool,
}

/// What one turn came to.
#[derive(Clone, Copy)]
struct Turn {
    per_second: f64,
    /// CPU time of the whole machine for a request, µs.
    machine_us: f64,
    /// What the balancer's own CPU worked for a request, µs; 0 where it has none.
    balancer_us: f64,
}

/// Runs every way in every round of either lab and prints their medians side by side; no number is asked.
pub(super) fn run(session: &mut Session) -> Result<()> {
    for program in ["ip", "tc", "nft", "haproxy", "curl"] {
        if !session.has(program, "routing") {
            return Ok(());
        }
    }
    let rounds = session.size.rounds();
    let together = turns(&Lab::up(session, None)?, rounds)?;
    let apart = match apart(session, rounds) {
        Ok(turns) => Some(turns),
        Err(error) => {
            session.skip(format!("bench routing: a CPU for the balancer alone: {error:#}"));
            None
        }
    };
    let seconds = session.size.seconds();
    println!(
        "\n{CONNECTIONS} connections, small answers; medians of {rounds} rounds of {seconds} s in either lab,"
    );
    println!("each turn held against the servers' count; CPU times are µs for a request");
    println!(
        "{:<16} {:>12} {:>14} {:>18} | {:>15} {:>17}",
        "", "requests/s", "machine's CPU", "more than without", "balancer's CPU", "requests/s then"
    );
    let middle = |turns: &[Vec<Turn>], way: usize, of: fn(&Turn) -> f64| {
        median(turns[way].iter().map(of).collect()).context("no round")
    };
    let without = middle(&together, 0, |turn| turn.machine_us)?;
    let mut told = Vec::new();
    for (way, (name, _)) in WAYS.iter().enumerate() {
        let rate = middle(&together, way, |turn| turn.per_second)?;
        let machine = middle(&together, way, |turn| turn.machine_us)?;
        let more = machine - without;
        let mut words = format!("{rate:.0}/s, {more:.1} µs more than without");
        print!("{name:<16} {rate:>12.0} {machine:>14.1} {more:>18.1} | ");
        if let Some(apart) = &apart {
            let own = middle(apart, way, |turn| turn.balancer_us)?;
            let then = middle(apart, way, |turn| turn.per_second)?;
            println!("{own:>15.1} {then:>17.0}");
            words = format!("{words}, {own:.1} µs of the balancer's own CPU");
        } else {
            println!("{:>15} {:>17}", "-", "-");
        }
        told.push((format!("routing: {name}"), words));
    }
    for (number, measured) in told {
        session.score(number, "none".to_owned(), measured, None);
    }
    Ok(())
}

/// All turns of a lab in which the balancer has a CPU to itself.
fn apart(session: &Session, rounds: usize) -> Result<Vec<Vec<Turn>>> {
    let own = session.cpus.generator;
    let rest: Vec<usize> = cpus::allowed()?.into_iter().filter(|cpu| *cpu != own).collect();
    let lab = Lab::up(session, Some((own, rest.clone())))?;
    lab.steer("lb1", &[own])?;
    for host in ["load1", "web1", "web2"] {
        lab.steer(host, &rest)?;
    }
    turns(&lab, rounds)
}

/// The turns of each way.
fn turns(lab: &Lab<'_>, rounds: usize) -> Result<Vec<Vec<Turn>>> {
    let mut turns = vec![Vec::new(); WAYS.len()];
    for round in 0..rounds {
        for place in 0..WAYS.len() {
            // Whoever comes first in one round comes last in the next.
            let way = (place + round) % WAYS.len();
            turns[way].push(lab.turn(WAYS[way].1)?);
        }
    }
    Ok(turns)
}

impl<'s> Lab<'s> {
    fn up(session: &'s Session, apart: Option<(usize, Vec<usize>)>) -> Result<Self> {
        let limit = |cpus: &[usize]| {
            let cpus: Vec<String> = cpus.iter().map(ToString::to_string).collect();
            format!("{{cpus: \"{}\"}}", cpus.join(","))
        };
        let (its, rest) = apart
            .as_ref()
            .map_or(("{}".to_owned(), "{}".to_owned()), |(own, rest)| (limit(&[*own]), limit(rest)));
        let text = LAB.replace("{ITS}", &its).replace("{REST}", &rest);
        std::fs::write(session.folder.path().join("routing.yaml"), text).context("a topology file")?;
        let mut lab = Self { session, apart, up: false };
        lab.wavetank(&["up", "routing.yaml"])?;
        lab.up = true;
        Ok(lab)
    }

    /// What comes in at the host's interface is worked on by these CPUs only.
    fn steer(&self, host: &str, cpus: &[usize]) -> Result<()> {
        let file = "/sys/class/net/eth0/queues/rx-0/rps_cpus";
        let write = format!("echo {} > {file}", cpus::mask(cpus));
        self.wavetank(&["exec", host, "--", "sh", "-c", &write]).map(drop)
    }

    fn turn(&self, url: &str) -> Result<Turn> {
        let program = self.session.wavetank.to_string_lossy();
        let (length, connections) = (format!("{}s", self.session.size.seconds()), CONNECTIONS.to_string());
        let load = ["exec", "load1", "--", &program, "run", url, "-c", &connections, "-d", &length];
        let words = [load.as_slice(), &["--format", "json"]].concat();
        let seen_before = self.seen()?;
        let busy = || {
            (process::machine_busy_s(), self.apart.as_ref().map_or(0.0, |(own, _)| process::cpu_busy_s(*own)))
        };
        let before = busy();
        let output = self.wavetank(&words)?;
        let after = busy();
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
            machine_us: per_request(after.0 - before.0),
            balancer_us: per_request(after.1 - before.1),
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

    fn wavetank(&self, words: &[&str]) -> Result<Output> {
        let folder = self.session.folder.path();
        let mut command = Command::new(&self.session.wavetank);
        command.arg("lab").args(words).current_dir(folder).env("WAVETANK_LABS", folder.join("labs"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // On its way into a host a program must not work on the balancer's CPU; a lab is told there are all of them.
        let child = match (&self.apart, words) {
            (Some((_, rest)), ["exec", ..]) => cpus::spawn_on(rest[0], &mut command)?,
            _ => command.spawn().context("wavetank lab")?,
        };
        let output = child.wait_with_output().context("wavetank lab")?;
        if !output.status.success() {
            bail!("wavetank lab {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(output)
    }
}

impl Drop for Lab<'_> {
    fn drop(&mut self) {
        // One that never came up has said so.
        if self.up
            && let Err(error) = self.wavetank(&["down"])
        {
            println!("{error:#}");
        }
    }
}
