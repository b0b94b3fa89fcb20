//! `bench routing`: the cost of no balancer, direct routing, NAT and `HAProxy` between clients and
//! servers.
//!
//! One lab has all of them in front of the same two servers. Packets that the kernel forwards are
//! not the work of any process of the balancer. The kernel forwards them in interrupts, at the
//! expense of the process that sent them. The cost is therefore measured in two labs.
//!
//! In the first lab all hosts share all CPUs. It gives the requests per second, and the additional
//! CPU time of the whole machine per request compared with no balancer.
//!
//! In the second lab the balancer has a CPU to itself, and the other hosts use the rest. Receive
//! packet steering hands the balancer's incoming packets to that CPU. All work of this CPU counts
//! for the balancer, including interrupts and the switch's work for what it sends.

use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::cpus;
use crate::process;
use crate::session::Session;
use crate::stats::median;

/// Connections of the load. Each sends its next request as soon as the response has arrived.
const CONNECTIONS: u32 = 64;

/// The ways, each with the URL that the load requests.
const WAYS: [(&str, &str); 5] = [
    ("no balancer", "http://web1:80/"),
    ("direct routing", "http://10.94.0.100:80/"),
    ("NAT", "http://10.94.0.101:81/"),
    ("HAProxy, TCP", "http://lb1:8081/"),
    ("HAProxy, HTTP", "http://lb1:8082/"),
];

/// The topology. `ITS` and `REST` are placeholders for the limits of the balancer and of the other
/// hosts.
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
    /// The balancer's own CPU and those of the other hosts, in the second lab.
    apart: Option<(usize, Vec<usize>)>,
    up: bool,
}

/// The result of one turn.
#[derive(Clone, Copy)]
struct Turn {
    per_second: f64,
    /// CPU time of the whole machine per request, in µs.
    machine_us: f64,
    /// Busy time of the balancer's own CPU per request, in µs. It is 0 if the balancer has no CPU
    /// to itself.
    balancer_us: f64,
}

/// Runs every way in every round of both labs, and prints the medians. The numbers have no target.
pub(crate) fn run(session: &mut Session) -> Result<()> {
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
        "\n{CONNECTIONS} connections, small responses; medians of {rounds} rounds of {seconds} s in each lab,"
    );
    println!("each turn is checked against the servers' count; CPU times are µs per request");
    println!(
        "{:<16} {:>12} {:>14} {:>18} | {:>15} {:>17}",
        "", "requests/s", "machine's CPU", "more than without", "balancer's CPU", "requests/s then"
    );
    let middle = |turns: &[Vec<Turn>], way: usize, of: fn(&Turn) -> f64| {
        median(turns[way].iter().map(of).collect()).context("no round")
    };
    let without = middle(&together, 0, |turn| turn.machine_us)?;
    let mut reported = Vec::new();
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
        reported.push((format!("routing: {name}"), words));
    }
    for (number, measured) in reported {
        session.score(number, "none".to_owned(), measured, None);
    }
    Ok(())
}

/// Runs all turns in a lab in which the balancer has a CPU to itself.
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

/// Returns the turns of each way.
fn turns(lab: &Lab<'_>, rounds: usize) -> Result<Vec<Vec<Turn>>> {
    let mut turns = vec![Vec::new(); WAYS.len()];
    for round in 0..rounds {
        for place in 0..WAYS.len() {
            // The order rotates from round to round.
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

    /// Lets only these CPUs process incoming packets of the host's interface.
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
        // The servers also count a probe before the load, and at its end one request in flight per
        // connection.
        let beyond = (self.seen()? - seen_before) as f64 - done;
        if !(0.0..=f64::from(CONNECTIONS) + 1.0).contains(&beyond) {
            bail!("{url}: the load counts {done} requests, the servers {beyond} more");
        }
        let per_request = |seconds: f64| seconds * 1e6 / done;
        Ok(Turn {
            per_second: done / f64::from(self.session.size.seconds()),
            machine_us: per_request(after.0 - before.0),
            balancer_us: per_request(after.1 - before.1),
        })
    }

    /// Returns the requests that the servers have counted, except requests for that count.
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
        // Entering a host must not use the balancer's CPU. Other lab commands may use all CPUs.
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
        // A lab that never came up has already reported its error.
        if self.up
            && let Err(error) = self.wavetank(&["down"])
        {
            println!("{error:#}");
        }
    }
}
