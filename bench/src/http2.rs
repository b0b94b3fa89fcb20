//! `bench http2`: CPU per request over HTTP/2 without TLS, compared with h2load.

use anyhow::Result;
use clap::Args;

use crate::command_text::shown;
use crate::engine::Engine;
use crate::goal::Goal;
use crate::http::keep_alive_turn;
use crate::load_generator::{Amount, LoadGenerator, Work};
use crate::paired_rounds::PairedRounds;
use crate::server::Server;
use crate::session::Session;

/// Connections, streams of each, and the largest CPU per request relative to h2load.
const ROWS: [(usize, u32, f64); 2] = [(64, 1, 0.80), (8, 32, 0.65)];

/// `cargo xtask bench http2`.
#[derive(Args)]
pub(crate) struct Http2Arguments {
    /// Our driver.
    #[arg(long, default_value = "uring")]
    engine: Engine,
}

impl Http2Arguments {
    /// Returns the arguments that `bench all` uses.
    pub(crate) fn for_engine(engine: Engine) -> Self {
        Self { engine }
    }
}

/// Compares with h2load against both targets.
pub(crate) fn run(session: &mut Session, arguments: &Http2Arguments) -> Result<()> {
    if !session.has("h2load", "http2") || !arguments.engine.usable(session, "http2")? {
        return Ok(());
    }
    let serve = Server::wavetank(session, arguments.engine)?;
    let url = serve.url();
    against(session, arguments.engine, ("wavetank serve", &serve, &url))?;
    drop(serve);
    if session.has("nginx", "http2 against nginx") {
        let (nginx, url) = Server::nginx_http2(session)?;
        against(session, arguments.engine, ("one-worker nginx", &nginx, &url))?;
    }
    Ok(())
}

fn against(session: &mut Session, engine: Engine, (name, server, url): (&str, &Server, &str)) -> Result<()> {
    println!("\ntarget     {name}: {}", server.command);
    for (connections, streams, cost_max) in ROWS {
        let work = Work {
            url: url.to_owned(),
            connections,
            amount: Amount { seconds: session.size.seconds(), requests: None },
            fresh: false,
            tls: None,
            streams: Some(streams),
            engine,
            source: None,
        };
        let contestants = [LoadGenerator::Wavetank, LoadGenerator::H2load];
        for contestant in contestants {
            println!("{:<10} {}", contestant.name(), shown(&contestant.words(session, &work)));
        }
        let contest = PairedRounds {
            number: format!(
                "HTTP/2, {}, {connections} connections, {streams} streams each, against {name}",
                engine.name()
            ),
            names: contestants.map(LoadGenerator::name).to_vec(),
            goal: Goal::Cost(cost_max),
            unit: "request",
        };
        contest.run(session, |session, place| keep_alive_turn(session, contestants[place], &work, server))?;
    }
    Ok(())
}
