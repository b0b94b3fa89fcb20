//! `bench websocket`: messages that are sent and returned per CPU second, compared with Tsung and
//! artillery.

use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::Value;

use crate::claims::ReportedResult;
use crate::contestant::{Contestant, WorkUnit};
use crate::engine::Engine;
use crate::goal::Goal;
use crate::paired_rounds::PairedRounds;
use crate::server::{Counted, Server};
use crate::session::Session;
use crate::tsung;

/// Connections of each contestant.
const USERS: u64 = 50;
/// Messages on each connection, of the peers and in a smoke run.
const MESSAGES: u64 = 400;
const MESSAGES_SMOKE: u64 = 20;
/// Seconds within which a peer should have sent them.
const SECONDS: u32 = 20;

/// `cargo xtask bench websocket`.
#[derive(Args)]
pub(crate) struct WebsocketArguments {
    /// Our driver.
    #[arg(long, default_value = "uring")]
    engine: Engine,
}

impl WebsocketArguments {
    /// Returns the arguments that `bench all` uses.
    pub(crate) fn for_engine(engine: Engine) -> Self {
        Self { engine }
    }
}

/// Compares with each available peer.
pub(crate) fn run(
    session: &mut Session,
    arguments: &WebsocketArguments,
    artillery: Option<&Path>,
) -> Result<()> {
    if !arguments.engine.usable(session, "websocket")? {
        return Ok(());
    }
    let server = Server::wavetank(session, arguments.engine)?;
    println!("\ntarget     wavetank serve: {}", server.command);
    let messages = session.size.choose(MESSAGES, MESSAGES_SMOKE);
    if session.has("tsung", "websocket with Tsung") {
        let peer = tsung::websocket(session, &server, USERS, messages)?;
        let idle = tsung::websocket(session, &server, 1, 1)?;
        run_rounds(session, arguments.engine, &server, peer, (&idle, Goal::Work(5.0)))?;
    }
    if let Some(program) = artillery {
        let peer = artillery_contestant(session, program, &server, (USERS, messages))?;
        let idle = artillery_contestant(session, program, &server, (1, 1))?;
        run_rounds(session, arguments.engine, &server, peer, (&idle, Goal::Work(3.0)))?;
    }
    Ok(())
}

fn run_rounds(
    session: &mut Session,
    engine: Engine,
    server: &Server,
    mut peer: Contestant,
    (idle, goal): (&Contestant, Goal),
) -> Result<()> {
    peer.subtract(session, idle, SECONDS)?;
    let contestants = [ours(session, engine, server), peer];
    contestants.iter().for_each(Contestant::print);
    let contest = PairedRounds {
        number: format!("WebSocket, {USERS} connections, compared with {}", contestants[1].name),
        names: contestants.iter().map(|contestant| contestant.name).collect(),
        goal,
        unit: "message",
    };
    let unit =
        WorkUnit { counted: Counted::Messages, per_unit: 1, in_flight: USERS as usize, seconds: SECONDS };
    contest.run(session, |session, place| contestants[place].turn(session, server, unit)).map(drop)
}

/// A message waits for the response to the one before it.
fn ours(session: &Session, engine: Engine, server: &Server) -> Contestant {
    let (address, seconds) = (server.address(), session.size.seconds());
    Contestant::wavetank(session, engine, &format!("ws://{address}/ws/echo -c {USERS} -d {seconds}s"))
}

/// Returns artillery with `users` connections that each send `messages` messages. It does not wait
/// for responses, which costs it less.
fn artillery_contestant(
    session: &Session,
    program: &Path,
    server: &Server,
    (users, messages): (u64, u64),
) -> Result<Contestant> {
    let folder = session.folder.path().join(format!("artillery-{users}"));
    std::fs::create_dir_all(&folder).context("artillery's folder")?;
    let [script, report] = ["script.json", "report.json"].map(|name| folder.join(name));
    let text = serde_json::json!({
        "config": {
            "target": format!("ws://{}/ws/echo", server.address()),
            "phases": [{"duration": 1, "arrivalCount": users}],
        },
        "scenarios": [{"engine": "ws", "flow": [{"loop": [{"send": "hello"}], "count": messages}]}],
    });
    std::fs::write(&script, text.to_string()).context("script.json")?;
    // Without the variable it reports its use over the network.
    let line = format!(
        "env ARTILLERY_DISABLE_TELEMETRY=true HOME={} {} run --quiet --output {} {}",
        folder.display(),
        program.display(),
        report.display(),
        script.display()
    );
    Ok(Contestant::peer("artillery", &line, move |_| {
        artillery_claim(&std::fs::read_to_string(&report).context("artillery wrote no report")?)
    }))
}

/// Reads the counters of artillery's report.
fn artillery_claim(report: &str) -> Result<ReportedResult> {
    let report: Value = serde_json::from_str(report).context("artillery's report is no JSON")?;
    let counters = &report["aggregate"]["counters"];
    if counters["vusers.failed"].as_u64().unwrap_or(0) > 0 {
        bail!("artillery had failures: {counters}");
    }
    let done = counters["websocket.messages_sent"].as_u64().context("artillery counted no messages")?;
    Ok(ReportedResult { done, sent: done, exact: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_counted_and_failures_reported() {
        let text = |failed| {
            format!(
                r#"{{"aggregate":{{"counters":{{"vusers.failed":{failed},"websocket.messages_sent":9}}}}}}"#
            )
        };
        assert_eq!(artillery_claim(&text(0)).ok(), Some(ReportedResult { done: 9, sent: 9, exact: true }));
        assert!(artillery_claim(&text(1)).is_err());
        assert!(artillery_claim("{}").is_err());
    }
}
