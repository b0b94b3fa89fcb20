//! `bench file`: CPU per request of an experiment file compared with a run of one URL, against
//! `wavetank serve`.

use anyhow::{Context, Result};
use clap::Args;

use crate::claims;
use crate::command_text::shown;
use crate::engine::Engine;
use crate::goal::Goal;
use crate::load_generator::file_words;
use crate::meter::Job;
use crate::paired_rounds::{PairedRounds, Turn};
use crate::server::Server;
use crate::session::Session;

/// Virtual users, with a connection each.
const USERS: usize = 64;

/// `cargo xtask bench file`.
#[derive(Args)]
pub(crate) struct FileArguments {
    /// Our driver, also used by the target `wavetank serve`.
    #[arg(long, default_value = "uring")]
    engine: Engine,
}

impl FileArguments {
    /// Returns the arguments that `bench all` uses.
    pub(crate) fn for_engine(engine: Engine) -> Self {
        Self { engine }
    }
}

/// An experiment file that is compared with `GET /`.
struct Row {
    name: &'static str,
    /// Its steps, in YAML.
    steps: &'static str,
    goal: Goal,
}

const ROWS: [Row; 2] = [
    Row { name: "a file of one step", steps: "  - get: /\n", goal: Goal::Cost(1.05) },
    Row {
        name: "a POST with two variables, an extraction and a check",
        // The response is the body of the request.
        steps: "  - post: /echo\n    json: {user: \"${user}\", number: \"${session}\", basket: [7, 11, 13]}\n    \
                extract: {number: json $.number}\n    check: [body contains basket]\n",
        goal: Goal::Cost(1.5),
    },
];

/// Runs both rows.
pub(crate) fn run(session: &mut Session, arguments: &FileArguments) -> Result<()> {
    let engine = arguments.engine;
    if !engine.usable(session, "file")? {
        return Ok(());
    }
    let server = Server::wavetank(session, engine)?;
    println!("\ntarget     {}", server.command);
    let seconds = session.size.seconds();
    for (place, row) in ROWS.iter().enumerate() {
        let text = format!(
            "name: row-{place}\ntarget: {}\nsteps:\n{}phases:\n  - {{users: {USERS}, for: {seconds}s}}\n",
            server.url(),
            row.steps
        );
        let ours = file_words(session, engine, &format!("row-{place}"), &text)?;
        let plain = plain_words(session, engine, &server);
        for words in [&ours, &plain] {
            println!("{:<10} {}", "wavetank", shown(words));
        }
        let names = vec!["file", "url"];
        let number = format!("{}, compared with a run of one URL on {}", row.name, engine.name());
        let contest = PairedRounds { number, names, goal: row.goal, unit: "request" };
        let both = [ours, plain];
        contest.run(session, |session, place| turn(session, &both[place], &server))?;
    }
    Ok(())
}

fn plain_words(session: &Session, engine: Engine, server: &Server) -> Vec<String> {
    let line = format!(
        "{} run {} -c {USERS} -d {}s --threads 1 --engine {} --no-probe --format json --quiet --runs-dir {}",
        session.wavetank.display(),
        server.url(),
        session.size.seconds(),
        engine.name(),
        session.folder.path().join("runs").display()
    );
    line.split(' ').map(str::to_owned).collect()
}

fn turn(session: &Session, words: &[String], server: &Server) -> Result<Turn> {
    let before = server.count()?;
    let seconds = session.size.seconds();
    let used = Job { words, fine: &[1, 3, 4], seconds, cycles_of: &[] }.run(session)?;
    let claim = claims::wavetank(&used.stdout).with_context(|| format!("`{}`", shown(words)))?;
    let seen = server.count_since(before)?;
    Ok(Turn {
        done: claim.done,
        cpu_us: used.cpu_us,
        cycles: used.cycles,
        peak_rss_bytes: used.peak_rss_bytes,
        void: claim.doubt(seen, USERS),
    })
}
