//! `bench compare`: pairs of sides that do not differ, and a planted difference, through `wavetank
//! compare` from end to end.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use serde_json::Value;

use crate::engine::Engine;
use crate::load_generator::file_words;
use crate::server::Server;
use crate::session::Session;

/// Number of pairs of sides that do not differ, and of those the most that may be reported as
/// different.
const PAIRS: (usize, usize) = (40, 6);
/// Runs of each side of such a pair, and seconds of each run.
const PAIR_RUNS: (usize, u32) = (3, 10);
/// Number of planted differences, and the fewest that must be found.
const PLANTED: (usize, usize) = (10, 9);
/// Runs of each side of a planted difference, and seconds of each run.
const PLANTED_RUNS: (usize, u32) = (5, 30);
/// Number of runs in parallel. Each sends few requests, so the bench takes minutes instead of
/// hours.
const AT_ONCE: usize = 20;
/// Requests per second of a run. 2 in 100 of them are slow, so p99 is the median of the slow ones.
const RATE: u32 = 50;

/// `cargo xtask bench compare`.
#[derive(Args)]
pub(crate) struct CompareArguments {
    /// Our driver.
    #[arg(long, default_value = "uring")]
    engine: Engine,
    /// Only one part
    #[arg(long)]
    part: Option<Part>,
}

/// A part of the bench.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Pairs of sides that do not differ.
    Same,
    /// The planted difference.
    Planted,
}

impl CompareArguments {
    /// Returns the arguments that `bench all` uses.
    pub(crate) fn for_engine(engine: Engine) -> Self {
        Self { engine, part: None }
    }

    fn asks(&self, part: Part) -> bool {
        self.part.is_none_or(|asked| asked == part)
    }
}

/// One pair of sides: the delay of the slow requests of each, in milliseconds.
#[derive(Clone, Copy)]
struct Pair {
    delays: [u32; 2],
    runs: usize,
    seconds: u32,
}

/// Makes all runs, compares them, and counts.
pub(crate) fn run(session: &mut Session, arguments: &CompareArguments) -> Result<()> {
    if !arguments.engine.usable(session, "compare")? {
        return Ok(());
    }
    let server = Server::wavetank(session, arguments.engine)?;
    let (pairs, planted) = session.size.choose((PAIRS.0, PLANTED.0), (1, 1));
    let size = session.size;
    let seconds = |full: u32| size.choose(full, 2);
    if arguments.asks(Part::Same) {
        let same = Pair { delays: [40, 40], runs: PAIR_RUNS.0, seconds: seconds(PAIR_RUNS.1) };
        let (alarms, _) = count(session, arguments.engine, &server, (same, pairs))?;
        session.score(
            format!(
                "{pairs} pairs that do not differ, {} runs of {} s per side: alarms",
                same.runs, same.seconds
            ),
            format!("≤ {}", PAIRS.1),
            alarms.to_string(),
            Some(alarms <= PAIRS.1),
        );
    }
    if arguments.asks(Part::Planted) {
        let other = Pair { delays: [40, 42], runs: PLANTED_RUNS.0, seconds: seconds(PLANTED_RUNS.1) };
        let (_, found) = count(session, arguments.engine, &server, (other, planted))?;
        session.score(
            format!(
                "{planted} times p99 40 → 42 ms, {} runs of {} s per side: found",
                other.runs, other.seconds
            ),
            format!("≥ {}", PLANTED.1),
            found.to_string(),
            Some(found >= PLANTED.1),
        );
    }
    Ok(())
}

/// Compares `pairs` pairs. Returns how many show any difference, and how many show a higher p99.
fn count(
    session: &Session,
    engine: Engine,
    server: &Server,
    (pair, pairs): (Pair, usize),
) -> Result<(usize, usize)> {
    let at_once = (AT_ONCE / (2 * pair.runs)).max(1);
    let (mut alarms, mut found) = (0, 0);
    for first in (0..pairs).step_by(at_once) {
        let batch = first..pairs.min(first + at_once);
        let mut under_way = Vec::new();
        for number in batch.clone() {
            for run in 0..pair.runs {
                for side in 0..2 {
                    let seed = (number * pair.runs + run) * 2 + side;
                    let child = start(session, engine, server, (pair.delays[side], pair.seconds, seed))?;
                    under_way.push((number, side, child));
                }
            }
        }
        let mut ids = Vec::new();
        for (number, side, child) in under_way {
            ids.push((number, side, id_of(child)?));
        }
        for number in batch {
            let side = |wanted: usize| -> Vec<&str> {
                let of = ids.iter().filter(|(of, side, _)| (*of, *side) == (number, wanted));
                of.map(|(_, _, id)| id.as_str()).collect()
            };
            let differing = differing(&session.wavetank, session.folder.path(), &side(0), &side(1))?;
            println!("{:>3}  {}", number + 1, if differing.is_empty() { "–" } else { &differing });
            alarms += usize::from(!differing.is_empty());
            found += usize::from(differing.split(", ").any(|one| one.starts_with("p99 +")));
        }
    }
    Ok((alarms, found))
}

fn start(
    session: &Session,
    engine: Engine,
    server: &Server,
    (delay, seconds, seed): (u32, u32, usize),
) -> Result<Child> {
    let text = format!(
        "name: planted\ntarget: {}\nscenarios:\n  fast:\n    weight: 98\n    steps: [{{get: /}}]\n  slow:\n    weight: 2\n    \
         steps: [{{get: /delay/{delay}ms, name: slow}}]\nphases:\n  - {{rate: {RATE}/s, for: {seconds}s}}\n",
        server.url()
    );
    // Each run gets its own file, since earlier runs may still be reading theirs.
    let mut words = file_words(session, engine, &format!("planted-{delay}-{seconds}-{seed}"), &text)?;
    words.extend(["--seed".to_owned(), seed.to_string()]);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().context("wavetank run")
}

/// Returns the run's id. The verdict is ignored: on a busy machine some runs are late.
fn id_of(child: Child) -> Result<String> {
    let output = child.wait_with_output().context("wait")?;
    let run: Value =
        serde_json::from_slice(&output.stdout).context("cannot read the output of `run --format json`")?;
    run["id"].as_str().map(str::to_owned).with_context(|| format!("a run was refused: {}", run["message"]))
}

/// Returns the metrics that differ significantly, e.g. `p99 +5.0 %`.
fn differing(wavetank: &Path, folder: &Path, a: &[&str], b: &[&str]) -> Result<String> {
    let mut command = Command::new(wavetank);
    command.arg("compare").args(a).arg("--with").args(b).args(["--format", "json", "--runs-dir"]);
    let output = command.arg(folder.join("runs")).output().context("wavetank compare")?;
    if !output.status.success() {
        bail!("compare: {}", String::from_utf8_lossy(&output.stdout).trim());
    }
    let doc: Value = serde_json::from_slice(&output.stdout)
        .context("cannot read the output of `compare --format json`")?;
    let metrics = doc["metrics"].as_array().context("no metrics in the comparison")?;
    let shown = metrics.iter().filter(|metric| metric["verdict"] == "difference");
    let reported = shown.map(|metric| {
        let change = (metric["ratio"].as_f64().unwrap_or(f64::NAN) - 1.0) * 100.0;
        format!("{} {change:+.1} %", metric["name"].as_str().unwrap_or_default())
    });
    Ok(reported.collect::<Vec<_>>().join(", "))
}
