//! `bench serve`: requests per CPU second of the target, with wrk as the client of both servers.

use anyhow::Result;
use clap::Args;

use crate::command_text::shown;
use crate::engine::Engine;
use crate::goal::Goal;
use crate::load_generator::{Amount, LoadGenerator, Work};
use crate::paired_rounds::{PairedRounds, Turn};
use crate::process;
use crate::server::Server;
use crate::session::Session;

/// Connections of wrk.
const CONNECTIONS: usize = 64;

/// `cargo xtask bench serve`.
#[derive(Args)]
pub(crate) struct ServeArguments {
    /// Driver of `wavetank serve`.
    #[arg(long, default_value = "uring")]
    pub(crate) engine: Engine,
}

/// Compares the two servers, which both stay up and respond with bodies of one size.
pub(crate) fn run(session: &mut Session, arguments: &ServeArguments) -> Result<()> {
    let here = session.has("wrk", "serve") && session.has("nginx", "serve");
    if !here || !arguments.engine.usable(session, "serve")? {
        return Ok(());
    }
    let servers = [Server::wavetank(session, arguments.engine)?, Server::nginx(session)?];
    let work = |server: &Server| Work {
        url: server.url(),
        connections: CONNECTIONS,
        amount: Amount { seconds: session.size.seconds(), requests: None },
        fresh: false,
        tls: None,
        streams: None,
        engine: arguments.engine,
        source: None,
    };
    let works = [work(&servers[0]), work(&servers[1])];
    for (server, work) in servers.iter().zip(&works) {
        println!("\ntarget     {}", server.command);
        println!("wrk        {}", shown(&LoadGenerator::Wrk.words(session, work)));
    }
    let contest = PairedRounds {
        number: format!("of serve on {}, with wrk as client", arguments.engine.name()),
        names: vec!["serve", "nginx"],
        // Only `io_uring` has a goal. The number on epoll is printed.
        goal: if arguments.engine == Engine::Uring { Goal::Work(1.5) } else { Goal::None },
        unit: "request",
    };
    contest.run(session, |session, place| turn(session, &servers[place], &works[place]))?;
    Ok(())
}

/// Measures what the server used under wrk's load.
fn turn(session: &Session, server: &Server, work: &Work) -> Result<Turn> {
    let processes = server.processes();
    let before = server.count()?;
    let cpu_before = process::cpu_us(&processes);
    let called = LoadGenerator::Wrk.call(session, work, &processes)?;
    let cpu_us = process::cpu_us(&processes) - cpu_before;
    let seen = server.count_since(before)?;
    Ok(Turn {
        done: called.claim.done,
        cpu_us,
        cycles: called.used.cycles,
        peak_rss_bytes: 0,
        void: called.claim.doubt(seen, work.connections),
    })
}
