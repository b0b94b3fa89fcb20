//! `bench http`: CPU per request compared with wrk, keep-alive connections, one thread.

use anyhow::{Context, Result};
use clap::Args;

use crate::command_text::shown;
use crate::engine::Engine;
use crate::goal::Goal;
use crate::load_generator::{Amount, LoadGenerator, Work};
use crate::paired_rounds::{PairedRounds, Turn};
use crate::server::Server;
use crate::session::Session;
use crate::stats::median;

/// Most memory that a run with 64 connections may use.
const PEAK_RSS_BYTES_MAX: f64 = 25e6;

/// `cargo xtask bench http`.
#[derive(Args)]
pub(crate) struct HttpArguments {
    /// Our driver.
    #[arg(long, default_value = "uring")]
    engine: Engine,
    /// Driver of the `wavetank serve` that is the target [default: the same]
    #[arg(long)]
    serve_engine: Option<Engine>,
    /// Connections, a row for each number.
    #[arg(short, long, value_delimiter = ',', default_value = "64,1,1000")]
    connections: Vec<usize>,
    /// Compare wrk with wrk, to show how much two equal contestants differ on this machine.
    #[arg(long)]
    same: bool,
}

impl HttpArguments {
    /// Returns the arguments that `bench all` uses: all rows for the default engine, the row with
    /// the most connections for the other.
    pub(crate) fn for_engine(engine: Engine) -> Self {
        let connections = if engine == Engine::Uring { vec![64, 1, 1_000] } else { vec![64] };
        Self { engine, serve_engine: None, connections, same: false }
    }
}

/// A server against which the costs are compared.
struct Target {
    server: Server,
    name: &'static str,
    /// Largest CPU per request at 64 connections, relative to wrk: on `io_uring` and on epoll.
    costs_max: [f64; 2],
}

/// Compares with wrk against both targets.
pub(crate) fn run(session: &mut Session, arguments: &HttpArguments) -> Result<()> {
    if !session.has("wrk", "http") || !arguments.engine.usable(session, "http")? {
        return Ok(());
    }
    let serve_engine = arguments.serve_engine.unwrap_or(arguments.engine);
    if serve_engine.usable(session, "http against serve")? {
        let server = Server::wavetank(session, serve_engine)?;
        let target = Target { server, name: "wavetank serve", costs_max: [0.60, 0.75] };
        against(session, arguments, &target)?;
    }
    if session.has("nginx", "http against nginx") {
        let server = Server::nginx(session)?;
        against(session, arguments, &Target { server, name: "one-worker nginx", costs_max: [0.85, 0.92] })?;
    }
    Ok(())
}

fn against(session: &mut Session, arguments: &HttpArguments, target: &Target) -> Result<()> {
    println!("\ntarget     {}: {}", target.name, target.server.command);
    for &connections in &arguments.connections {
        row(session, arguments, target, connections)?;
    }
    Ok(())
}

/// Measures one number of connections against one target.
fn row(session: &mut Session, arguments: &HttpArguments, target: &Target, connections: usize) -> Result<()> {
    let engine = arguments.engine;
    let contestants =
        [if arguments.same { LoadGenerator::Wrk } else { LoadGenerator::Wavetank }, LoadGenerator::Wrk];
    let amount = Amount { seconds: session.size.seconds(), requests: None };
    let url = target.server.url();
    let work =
        Work { url, connections, amount, fresh: false, tls: None, streams: None, engine, source: None };
    for contestant in contestants {
        println!("{:<10} {}", contestant.name(), shown(&contestant.words(session, &work)));
    }
    let goal = match (arguments.same, connections) {
        (true, _) => Goal::None,
        (false, 64) => Goal::Cost(target.costs_max[usize::from(engine == Engine::Epoll)]),
        // Other numbers of connections only exclude a higher cost than wrk's.
        (false, _) => Goal::Cost(1.0),
    };
    let ours = if arguments.same { "wrk" } else { engine.name() };
    let plural = if connections == 1 { "" } else { "s" };
    let number = format!("{ours}, {connections} connection{plural}, against {}", target.name);
    let contest = PairedRounds {
        number: number.clone(),
        names: contestants.map(LoadGenerator::name).to_vec(),
        goal,
        unit: "request",
    };
    let rounds = contest
        .run(session, |session, place| keep_alive_turn(session, contestants[place], &work, &target.server))?;
    if connections == 64 && !arguments.same {
        let peaks = rounds.iter().map(|turns| turns[0].peak_rss_bytes as f64).collect();
        let peak = median(peaks).context("no round")?;
        let (target, measured) = (PEAK_RSS_BYTES_MAX / 1e6, peak / 1e6);
        session.score(
            format!("peak memory, {number}"),
            format!("≤ {target:.0} MB"),
            format!("{measured:.1} MB"),
            Some(peak <= PEAK_RSS_BYTES_MAX),
        );
    }
    Ok(())
}

/// Runs one contestant's turn against a target that stays up. Measures its own CPU, and checks its
/// reported count against the target's count.
pub(crate) fn keep_alive_turn(
    session: &Session,
    contestant: LoadGenerator,
    work: &Work,
    server: &Server,
) -> Result<Turn> {
    let before = server.count()?;
    let called = contestant.call(session, work, &[])?;
    let seen = server.count_since(before)?;
    Ok(Turn {
        done: called.claim.done,
        cpu_us: called.used.cpu_us,
        cycles: called.used.cycles,
        peak_rss_bytes: called.used.peak_rss_bytes,
        void: called.claim.doubt(seen, work.in_flight()),
    })
}
