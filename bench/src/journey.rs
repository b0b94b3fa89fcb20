//! `bench journey`: the cost of a session of five requests with cookies and one check, compared
//! with Tsung and Locust.
//!
//! Tsung's users are sessions that arrive, each with its own connections. Compared with Tsung, our
//! connections therefore belong to the session. Locust's users keep their connections, and so do
//! ours in that comparison. Both peers first start a virtual machine or an interpreter. The cost of
//! an almost empty run is subtracted from theirs, and not from ours.

use std::path::Path;

use anyhow::Result;
use clap::Args;

use crate::claims;
use crate::contestant::{Contestant, WorkUnit};
use crate::engine::Engine;
use crate::goal::Goal;
use crate::journey_session::{STEPS, WANTED};
use crate::load_generator::file_words;
use crate::locust;
use crate::paired_rounds::PairedRounds;
use crate::server::{Counted, Server};
use crate::session::Session;
use crate::tsung;

/// Number of simultaneous virtual users, for generators that have them.
const USERS: usize = 50;
/// Sessions that arrive per second with Tsung, slightly below its capacity on one CPU. Beyond that
/// capacity its run may never end.
const ARRIVALS: u64 = 1_500;

/// `cargo xtask bench journey`.
#[derive(Args)]
pub(crate) struct JourneyArguments {
    /// Our driver.
    #[arg(long, default_value = "uring")]
    engine: Engine,
}

impl JourneyArguments {
    /// Returns the arguments that `bench all` uses.
    pub(crate) fn for_engine(engine: Engine) -> Self {
        Self { engine }
    }
}

/// Compares with each available peer.
pub(crate) fn run(session: &mut Session, arguments: &JourneyArguments, locust: Option<&Path>) -> Result<()> {
    if !session.has("nginx", "journey") || !arguments.engine.usable(session, "journey")? {
        return Ok(());
    }
    let server = Server::nginx(session)?;
    println!("\ntarget     one-worker nginx: {}", server.command);
    if session.has("tsung", "journey with Tsung") {
        let ours = ours(session, arguments.engine, &server, "session")?;
        let (most, seconds) = (ARRIVALS * u64::from(session.size.seconds()), session.size.seconds());
        let idle = tsung::party(session, &server, 1, ARRIVALS)?;
        let peer = tsung::party(session, &server, most, ARRIVALS)?;
        run_rounds(session, &server, [ours, peer], &idle, (Goal::Work(5.0), seconds * 4))?;
    }
    if let Some(program) = locust {
        let ours = ours(session, arguments.engine, &server, "user")?;
        let seconds = session.size.seconds() + 2;
        let idle = locust::party(session, program, &server, (1, 1))?;
        let peer = locust::party(session, program, &server, (USERS, seconds))?;
        run_rounds(session, &server, [ours, peer], &idle, (Goal::Work(20.0), seconds))?;
    }
    Ok(())
}

/// Runs all rounds of us and one peer.
fn run_rounds(
    session: &mut Session,
    server: &Server,
    [ours, mut peer]: [Contestant; 2],
    idle: &Contestant,
    (goal, seconds): (Goal, u32),
) -> Result<()> {
    peer.subtract(session, idle, seconds)?;
    let contestants = [ours, peer];
    contestants.iter().for_each(Contestant::print);
    let names = contestants.iter().map(|contestant| contestant.name).collect();
    let number = format!("five requests, cookies, one check, compared with {}", contestants[1].name);
    let contest = PairedRounds { number, names, goal, unit: "session" };
    let unit = WorkUnit { counted: Counted::Requests, per_unit: STEPS, in_flight: USERS, seconds };
    contest.run(session, |session, place| contestants[place].turn(session, server, unit)).map(drop)
}

/// Returns our file for the journey and the command that runs it.
fn ours(session: &Session, engine: Engine, server: &Server, connection: &str) -> Result<Contestant> {
    let check = format!("        check: [body contains \"{WANTED}\"]\n");
    let steps = (1..=STEPS).map(|step| {
        let check = if step == 1 { check.as_str() } else { "" };
        format!("      - get: /shop/{step}\n{check}")
    });
    let steps: String = steps.collect();
    let text = format!(
        "name: journey\ntarget: {}\nhttp: {{cookies: true}}\nscenarios:\n  shopper:\n    weight: 1\n    \
         connection: {connection}\n    steps:\n{steps}phases:\n  - {{users: {USERS}, for: {}s}}\n",
        server.url(),
        session.size.seconds()
    );
    let words = file_words(session, engine, &format!("journey-{connection}"), &text)?;
    Ok(Contestant::new("wavetank", words, &[1, 3, 4], |used| claims::wavetank(&used.stdout)))
}
