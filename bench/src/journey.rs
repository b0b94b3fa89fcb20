//! `bench journey`: the cost of a session of five requests with cookies and one check, compared
//! with Tsung and Locust.
//!
//! Tsung's users are sessions that arrive, each with its own connections. Compared with Tsung, our
//! connections therefore belong to the session. Locust's users keep their connections, and so do
//! ours in that comparison. Both peers first start a virtual machine or an interpreter. The cost of
//! an almost empty run is subtracted from theirs, and not from ours.

use std::path::Path;

use anyhow::{Context, Result};
use clap::Args;

use crate::claims;
use crate::command_text::shown;
use crate::engine::Engine;
use crate::goal::Goal;
use crate::journey_contestant::{JourneyContestant, STEPS, WANTED};
use crate::load_generator::file_words;
use crate::locust;
use crate::meter::Job;
use crate::paired_rounds::{PairedRounds, Turn};
use crate::server::Server;
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
    [ours, mut peer]: [JourneyContestant; 2],
    idle: &JourneyContestant,
    (goal, seconds): (Goal, u32),
) -> Result<()> {
    let used = Job { words: &idle.words, fine: idle.fine, seconds, cycles_of: &[] }.run(session)?;
    peer.start = (used.cpu_us, used.cycles.unwrap_or(0.0));
    for party in [&ours, &peer] {
        println!("{:<10} {}", party.name, shown(&party.words));
    }
    println!("subtracted {:.0} ms, what an almost empty run of {} uses", used.cpu_us / 1e3, peer.name);
    let names = vec![ours.name, peer.name];
    let number = format!("five requests, cookies, one check, compared with {}", peer.name);
    let contest = PairedRounds { number, names, goal, unit: "session" };
    let parties = [ours, peer];
    contest.run(session, |session, place| turn(session, &parties[place], server, seconds)).map(drop)
}

/// Runs one turn and checks the reported count against nginx's count.
pub(crate) fn turn(
    session: &Session,
    party: &JourneyContestant,
    server: &Server,
    seconds: u32,
) -> Result<Turn> {
    let before = server.count()?;
    let used = Job { words: &party.words, fine: party.fine, seconds, cycles_of: &[] }.run(session)?;
    let claim = (party.claim)(&used).with_context(|| format!("`{}`", shown(&party.words)))?;
    let seen = server.count_since(before)?;
    Ok(Turn {
        done: claim.done / STEPS,
        cpu_us: used.cpu_us - party.start.0,
        cycles: used.cycles.map(|cycles| cycles - party.start.1),
        peak_rss_bytes: used.peak_rss_bytes,
        void: claim.doubt(seen, USERS),
    })
}

/// Returns our file for the journey and the command that runs it.
fn ours(session: &Session, engine: Engine, server: &Server, connection: &str) -> Result<JourneyContestant> {
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
    Ok(JourneyContestant {
        name: "wavetank",
        words,
        fine: &[1, 3, 4],
        claim: Box::new(|used| claims::wavetank(&used.stdout)),
        start: (0.0, 0.0),
    })
}
