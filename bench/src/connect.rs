//! `bench connect`: a new connection for each request, first with many free ports, then with most
//! ports of one source in use.
//!
//! Each turn has its own network namespace and target, so that it does not meet connections that
//! another turn left in TIME-WAIT. Only Wavetank gets a range of source addresses, since no peer
//! supports one.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail};
use clap::Args;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::command_text::shown;
use crate::engine::Engine;
use crate::fill::HeldConnections;
use crate::goal::Goal;
use crate::load_generator::{Amount, LoadGenerator, Work};
use crate::namespace::{self, Lingering, Namespace};
use crate::paired_rounds::{PairedRounds, Turn};
use crate::server::Server;
use crate::session::Session;

/// Requests of a turn: fewer than the 28,232 ports that one source has by default.
const REQUESTS: u64 = 20_000;
/// Requests of a turn in a smoke run.
const REQUESTS_SMOKE: u64 = 1_000;
/// Where the target listens, in the turn's own namespace.
const PORT: u16 = 8_080;
/// Files for the connections that only occupy ports, and a reserve.
const SPARE_FILES: u64 = 500;
/// All contestants, ours first.
const CONTESTANTS: [LoadGenerator; 4] =
    [LoadGenerator::Wavetank, LoadGenerator::Wrk, LoadGenerator::H2load, LoadGenerator::Ab];

/// `cargo xtask bench connect`.
#[derive(Args)]
pub(crate) struct ConnectArguments {
    /// Our driver.
    #[arg(long, default_value = "uring")]
    engine: Engine,
    /// Our source addresses.
    #[arg(long, default_value = "127.1.0.0/24")]
    source: String,
    /// Number of simultaneous connections.
    #[arg(short, long, default_value_t = 64)]
    connections: usize,
    /// Share of one source's ports in use in the second row.
    #[arg(long, default_value_t = 0.62)]
    filled: f64,
    /// Ports of one source in the second row [default: the kernel's 28,232; 2,000 in a smoke run]
    #[arg(long)]
    ports: Option<u16>,
}

impl ConnectArguments {
    /// Returns the arguments that `bench all` uses.
    pub(crate) fn for_engine(engine: Engine) -> Self {
        let source = "127.1.0.0/24".to_owned();
        Self { engine, source, connections: 64, filled: 0.62, ports: None }
    }
}

/// One row.
struct Row<'a> {
    arguments: &'a ConnectArguments,
    contestants: Vec<LoadGenerator>,
    /// Share of one source's ports that idle connections occupy.
    filled: Option<f64>,
}

/// Runs both rows.
pub(crate) fn run(session: &mut Session, arguments: &ConnectArguments) -> Result<()> {
    if !(0.0..0.95).contains(&arguments.filled) {
        bail!("--filled must be at least 0 and below 0.95");
    }
    let here = session.has("nginx", "connect") && session.has_namespaces("connect");
    if !here || !arguments.engine.usable(session, "connect")? {
        return Ok(());
    }
    let mut contestants = CONTESTANTS.to_vec();
    contestants.retain(|contestant| {
        *contestant == LoadGenerator::Wavetank || session.has(contestant.name(), "connect, as a peer")
    });
    if contestants.len() < 2 {
        return Ok(());
    }
    let plenty = Row { arguments, contestants: contestants.clone(), filled: None };
    plenty.run(session, "below 28k tuples", Goal::Work(1.15))?;
    let filled = arguments.filled;
    let row = Row { arguments, contestants, filled: Some(filled) };
    row.run(session, &format!("one source {:.0} % used", filled * 100.0), Goal::Work(10.0))
}

impl Row<'_> {
    fn run(&self, session: &mut Session, name: &str, goal: Goal) -> Result<()> {
        println!(
            "\nrow        new connection per request, {name}; each turn in its own namespace, against nginx"
        );
        for contestant in &self.contestants {
            println!(
                "{:<10} {}",
                contestant.name(),
                shown(&contestant.words(session, &self.work(session, *contestant)))
            );
        }
        let contest = PairedRounds {
            number: format!("{}, new connection per request, {name}", self.arguments.engine.name()),
            names: self.contestants.iter().map(|contestant| contestant.name()).collect(),
            goal,
            unit: "request",
        };
        let mut lingering = vec![Lingering::default(); self.contestants.len()];
        contest.run(session, |session, place| {
            let (turn, left) =
                namespace::inside(|namespace| self.turn(session, namespace, self.contestants[place]))?;
            lingering[place].server += left.server;
            lingering[place].client += left.client;
            Ok(turn)
        })?;
        let closers = self.contestants.iter().zip(&lingering);
        let closers: Vec<String> = closers.map(|(contestant, left)| closer(*contestant, *left)).collect();
        println!("closed     first by the target, as TIME-WAIT shows: {}", closers.join(", "));
        Ok(())
    }

    fn work(&self, session: &Session, contestant: LoadGenerator) -> Work {
        // With few free ports, a peer's port search takes milliseconds. The full number of requests
        // would take it minutes.
        let counted = self.filled.is_none() || contestant == LoadGenerator::Wavetank;
        let requests = session.size.choose(REQUESTS, REQUESTS_SMOKE);
        let seconds = if self.filled.is_some() { session.size.choose(3, 1) } else { 1 };
        let few = session.size.choose(1_000, 200);
        Work {
            url: format!("http://{}/", address()),
            connections: self.arguments.connections,
            amount: Amount { seconds, requests: Some(if counted { requests } else { few }) },
            fresh: true,
            tls: None,
            streams: None,
            engine: self.arguments.engine,
            source: Some(self.arguments.source.clone()),
        }
    }

    fn turn(
        &self,
        session: &Session,
        namespace: &Namespace,
        contestant: LoadGenerator,
    ) -> Result<(Turn, Lingering)> {
        // Ports in TIME-WAIT count as used. How fast a host releases them is not compared here.
        namespace.set("tcp_tw_reuse", "0")?;
        let server = Server::nginx_at(session, address(), None)?;
        let filled = self.filled.map(|share| self.fill(session, namespace, share)).transpose()?;
        let before = server.count()?;
        let work = self.work(session, contestant);
        let called = contestant.call(session, &work, &[])?;
        let seen = server.count_since(before)?;
        let left = namespace.lingering(PORT)?;
        drop(filled);
        let turn = Turn {
            done: called.claim.done,
            cpu_us: called.used.cpu_us,
            cycles: called.used.cycles,
            peak_rss_bytes: called.used.peak_rss_bytes,
            void: called.claim.doubt(seen, work.connections),
        };
        Ok((turn, left))
    }

    fn fill(&self, session: &Session, namespace: &Namespace, share: f64) -> Result<HeldConnections> {
        if let Some(ports) = self.arguments.ports.or(session.size.choose(None, Some(2_000))) {
            let first = 32_768;
            let last = first + ports.clamp(100, 28_232) - 1;
            namespace.set("ip_local_port_range", &format!("{first} {last}"))?;
        }
        let (first, last) = namespace.port_range()?;
        let wanted = (f64::from(last - first) + 1.0) * share;
        raise_files(wanted as u64 + SPARE_FILES)?;
        HeldConnections::up_to(share, namespace, address())
    }
}

fn address() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], PORT))
}

/// Raises this process' soft limit of open files.
fn raise_files(wanted: u64) -> Result<()> {
    let limit = getrlimit(Resource::Nofile);
    if limit.maximum.is_some_and(|hard| hard < wanted) {
        bail!("{wanted} files are needed, the hard limit is {:?}: use fewer --ports", limit.maximum);
    }
    if limit.current.is_some_and(|soft| soft < wanted) {
        let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
        setrlimit(Resource::Nofile, raised).context("setrlimit")?;
    }
    Ok(())
}

/// Formats how often the target closed first.
fn closer(contestant: LoadGenerator, left: Lingering) -> String {
    let all = left.server + left.client;
    let share = if all == 0 { 0.0 } else { left.server as f64 / all as f64 };
    format!("{} {:.0} % of {all}", contestant.name(), share * 100.0)
}
