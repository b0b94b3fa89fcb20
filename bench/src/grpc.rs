//! `bench grpc`: CPU per unary call, compared with ghz.

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

/// Connections, and calls in flight on each.
const CONNECTIONS: usize = 8;
const STREAMS: usize = 8;
/// The method of `wavetank serve`.
const METHOD: &str = "wavetank.echo.v1.Echo/Say";
/// The message of a call.
const MESSAGE: &str = r#"{"text":"hello"}"#;
/// The service, for both contestants.
const DESCRIPTION: &str = include_str!("../../examples/grpc/echo.proto");
/// Largest CPU per call relative to ghz.
const COST_MAX: f64 = 0.3;

/// `cargo xtask bench grpc`.
#[derive(Args)]
pub(crate) struct GrpcArguments {
    /// Our driver.
    #[arg(long, default_value = "uring")]
    engine: Engine,
}

impl GrpcArguments {
    /// Returns the arguments that `bench all` uses.
    pub(crate) fn for_engine(engine: Engine) -> Self {
        Self { engine }
    }
}

/// Compares with `ghz` if it is there.
pub(crate) fn run(session: &mut Session, arguments: &GrpcArguments, ghz: Option<&Path>) -> Result<()> {
    let Some(ghz) = ghz else { return Ok(()) };
    if !arguments.engine.usable(session, "grpc")? {
        return Ok(());
    }
    let description = session.folder.path().join("echo.proto");
    std::fs::write(&description, DESCRIPTION).context("echo.proto")?;
    let server = Server::wavetank(session, arguments.engine)?;
    println!("\ntarget     wavetank serve: {}", server.command);
    let ours = ours(session, arguments.engine, &server, &description);
    let amount = format!(
        "-c {} --connections {CONNECTIONS} -z {}s --duration-stop wait",
        CONNECTIONS * STREAMS,
        session.size.seconds()
    );
    let mut peer = peer(ghz, &server, &description, &amount);
    peer.subtract(session, &self::peer(ghz, &server, &description, "-c 1 -n 1"), 1)?;
    let contestants = [ours, peer];
    contestants.iter().for_each(Contestant::print);
    let contest = PairedRounds {
        number: format!(
            "gRPC, unary, {}, {CONNECTIONS} connections, {STREAMS} streams each",
            arguments.engine.name()
        ),
        names: contestants.iter().map(|contestant| contestant.name).collect(),
        goal: Goal::Cost(COST_MAX),
        unit: "call",
    };
    let unit = WorkUnit {
        counted: Counted::Requests,
        per_unit: 1,
        in_flight: CONNECTIONS * STREAMS,
        seconds: session.size.seconds(),
    };
    contest.run(session, |session, place| contestants[place].turn(session, &server, unit)).map(drop)
}

fn ours(session: &Session, engine: Engine, server: &Server, description: &Path) -> Contestant {
    let arguments = format!(
        "grpc://{}/{METHOD} --proto {} --json {MESSAGE} -c {CONNECTIONS} --streams {STREAMS} -d {}s",
        server.address(),
        description.display(),
        session.size.seconds()
    );
    Contestant::wavetank(session, engine, &arguments)
}

/// Returns ghz with the options `amount`. It waits for the calls in flight at the end, as we do.
fn peer(ghz: &Path, server: &Server, description: &Path, amount: &str) -> Contestant {
    let line = format!(
        "{} --insecure --proto {} --call {METHOD} -d {MESSAGE} {amount} -O json {}",
        ghz.display(),
        description.display(),
        server.address()
    );
    Contestant::peer("ghz", &line, |used| claim(&used.stdout))
}

/// Reads `count` and the calls by status.
fn claim(stdout: &str) -> Result<ReportedResult> {
    let report: Value = serde_json::from_str(stdout).context("ghz printed no JSON")?;
    let count = report["count"].as_u64().context("ghz' count")?;
    let done = report["statusCodeDistribution"]["OK"].as_u64().unwrap_or(0);
    if done != count {
        bail!("ghz had failures: {}", report["statusCodeDistribution"]);
    }
    Ok(ReportedResult { done, sent: done, exact: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_and_failures_reported() {
        let fine = r#"{"count":7,"statusCodeDistribution":{"OK":7}}"#;
        assert_eq!(claim(fine).ok(), Some(ReportedResult { done: 7, sent: 7, exact: false }));
        assert!(claim(r#"{"count":7,"statusCodeDistribution":{"OK":6,"Unavailable":1}}"#).is_err());
        assert!(claim("nothing").is_err());
    }
}
