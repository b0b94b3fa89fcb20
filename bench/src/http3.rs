//! `bench http3`: CPU per request over HTTP/3, compared with oha.

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

/// Connections, and requests in flight on each.
const CONNECTIONS: usize = 8;
const STREAMS: usize = 8;
/// Largest CPU per request relative to oha.
const COST_MAX: f64 = 0.5;

/// `cargo xtask bench http3`.
#[derive(Args)]
pub(crate) struct Http3Arguments {
    /// Our driver.
    #[arg(long, default_value = "uring")]
    engine: Engine,
}

impl Http3Arguments {
    /// Returns the arguments that `bench all` uses.
    pub(crate) fn for_engine(engine: Engine) -> Self {
        Self { engine }
    }
}

/// Compares with `oha` if it is there.
pub(crate) fn run(session: &mut Session, arguments: &Http3Arguments, oha: Option<&Path>) -> Result<()> {
    let Some(oha) = oha else { return Ok(()) };
    if !session.has("curl", "http3") || !arguments.engine.usable(session, "http3")? {
        return Ok(());
    }
    let server = Server::wavetank_http3(session, arguments.engine)?;
    println!("\ntarget     wavetank serve: {}", server.command);
    let contestants = [ours(session, arguments.engine, &server), peer(session, oha, &server)];
    contestants.iter().for_each(Contestant::print);
    let contest = PairedRounds {
        number: format!(
            "HTTP/3, {}, {CONNECTIONS} connections, {STREAMS} streams each",
            arguments.engine.name()
        ),
        names: contestants.iter().map(|contestant| contestant.name).collect(),
        goal: Goal::Cost(COST_MAX),
        unit: "request",
    };
    let unit = WorkUnit {
        counted: Counted::Requests,
        per_unit: 1,
        in_flight: CONNECTIONS * STREAMS,
        seconds: session.size.seconds(),
    };
    contest.run(session, |session, place| contestants[place].turn(session, &server, unit)).map(drop)
}

fn ours(session: &Session, engine: Engine, server: &Server) -> Contestant {
    let (url, seconds) = (server.url(), session.size.seconds());
    let arguments = format!("{url} --http 3 --insecure -c {CONNECTIONS} --streams {STREAMS} -d {seconds}s");
    Contestant::wavetank(session, engine, &arguments)
}

fn peer(session: &Session, oha: &Path, server: &Server) -> Contestant {
    let line = format!(
        "{} --http-version 3 --insecure -c {CONNECTIONS} -p {STREAMS} -z {}s --wait-ongoing-requests-after-deadline \
         --no-tui --output-format json {}",
        oha.display(),
        session.size.seconds(),
        server.url()
    );
    Contestant::peer("oha", &line, |used| claim(&used.stdout))
}

/// Reads the responses by status, and the errors.
fn claim(stdout: &str) -> Result<ReportedResult> {
    let report: Value = serde_json::from_str(stdout).context("oha printed no JSON")?;
    let sum = |name: &str| {
        let counts = report[name].as_object().into_iter().flatten();
        counts.filter_map(|(_, count)| count.as_u64()).sum::<u64>()
    };
    let done = report["statusCodeDistribution"]["200"].as_u64().unwrap_or(0);
    if sum("statusCodeDistribution") != done || sum("errorDistribution") > 0 {
        bail!("oha had failures: {} {}", report["statusCodeDistribution"], report["errorDistribution"]);
    }
    Ok(ReportedResult { done, sent: done, exact: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_counted_and_failures_reported() {
        let fine = r#"{"statusCodeDistribution":{"200":7},"errorDistribution":{}}"#;
        assert_eq!(claim(fine).ok(), Some(ReportedResult { done: 7, sent: 7, exact: false }));
        assert!(claim(r#"{"statusCodeDistribution":{"200":7},"errorDistribution":{"closed":1}}"#).is_err());
        assert!(claim(r#"{"statusCodeDistribution":{"200":7,"500":1},"errorDistribution":{}}"#).is_err());
        assert!(claim("nothing").is_err());
    }
}
