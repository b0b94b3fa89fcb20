//! `cargo xtask bench`: wall-clock comparisons in paired rounds of one run.
//!
//! Generator and target have a CPU each. The contestants of a round run one after the other against one target that
//! stays up, in changing order; what is judged is the median of the ratios of rounds, never a number of one machine.
//! A contestant whose count the target does not confirm makes its round void.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::{Args, Subcommand};

pub(crate) mod child;
mod claims;
mod compare;
mod connect;
mod connect_cost;
mod counts;
mod cpus;
mod engine;
mod file;
mod fill;
mod first_chart;
mod goal;
mod http;
mod journey;
mod lab;
mod lateness;
mod load_generator;
mod locust;
mod machine;
mod memory;
mod meter;
mod million;
mod namespace;
mod nginx;
mod pace;
mod paired_rounds;
pub(crate) mod probe;
mod process;
mod ramp;
mod rendezvous;
mod report;
mod routing;
mod search;
mod serve;
mod server;
mod session;
mod stamps;
mod tls;
mod tls_target;
mod tsung;
mod users;

use engine::Engine;
use session::Session;

/// What to compare.
#[derive(Args)]
pub(crate) struct BenchArguments {
    #[command(subcommand)]
    bench: Bench,
    #[command(flatten)]
    size: Size,
}

#[derive(Subcommand)]
enum Bench {
    /// Every number of every bench, and a summary.
    All,
    /// CPU per request beside wrk's, against `wavetank serve` and against a one-worker nginx.
    Http(http::HttpArguments),
    /// Requests per CPU second of `wavetank serve` beside nginx's, wrk driving both.
    Serve(serve::ServeArguments),
    /// Requests and handshakes per CPU second over TLS beside wrk and h2load.
    Tls(tls::TlsArguments),
    /// A new connection for each request, beside wrk, h2load and ab, with ports in plenty and with few left.
    Connect(connect::ConnectArguments),
    /// What connecting costs while ever more connections are held.
    Flat(connect_cost::FlatArguments),
    /// User memory per idle connection.
    Memory(memory::MemoryArguments),
    /// Send lag of an open load beside a bare sleep-and-spin loop's lateness.
    Pace(pace::PaceArguments),
    /// CPU per request of an experiment file beside that of a run of one URL.
    File(file::FileArguments),
    /// Sessions of a journey per CPU second beside Tsung and Locust.
    Journey(journey::JourneyArguments),
    /// User memory per thinking user.
    Users(users::UsersArguments),
    /// What is sent in each second of a ramp beside the plan.
    Ramp(ramp::RampArguments),
    /// How far apart the first and the last of a rendezvous are sent.
    Meet(rendezvous::MeetArguments),
    /// Archives of an hour and of a day: their size, and how long reports of them take.
    Report(report::ReportArguments),
    /// Whether the knee that a search finds holds the capacity that a target states, 20 times.
    Search(search::SearchArguments),
    /// False alarms of `wavetank compare` in real pairs, and a planted difference.
    Compare(compare::CompareArguments),
    /// A lab of eight hosts up and down again and again: how long that takes, and what is left.
    Lab(lab::LabArguments),
    /// Direct routing, NAT and `HAProxy` side by side in one lab: requests per second, CPU per request.
    Routing,
    /// A million connections held: none lost, memory and CPU of both ends, all of them asked at once.
    Million(million::MillionArguments),
}

/// How much.
#[derive(Args, Clone, Copy)]
struct Size {
    /// Paired rounds: 5, or 1 with `--smoke`.
    #[arg(long, global = true)]
    rounds: Option<usize>,
    /// Seconds of one turn: 2, or 1 with `--smoke`.
    #[arg(long, global = true)]
    seconds: Option<u32>,
    /// One short round: everything runs, no number is judged.
    #[arg(long, global = true)]
    smoke: bool,
}

impl Size {
    fn rounds(self) -> usize {
        self.rounds.unwrap_or(if self.smoke { 1 } else { 5 })
    }

    fn seconds(self) -> u32 {
        self.seconds.unwrap_or(if self.smoke { 1 } else { 2 })
    }

    /// `full`, or `smoke` in a smoke run.
    fn choose<T>(self, full: T, smoke: T) -> T {
        if self.smoke { smoke } else { full }
    }
}

/// Runs the benches named on the command line; an error where a number misses its target.
pub(crate) fn run(root: &Path, arguments: &BenchArguments) -> Result<()> {
    let Some(mut session) = Session::open(release(root), arguments.size)? else {
        println!("SKIPPED {TWO_CPUS}");
        return Ok(());
    };
    match &arguments.bench {
        Bench::All => all(&mut session),
        Bench::Http(arguments) => session.bench("http", |session| http::run(session, arguments)),
        Bench::Serve(arguments) => session.bench("serve", |session| serve::run(session, arguments)),
        Bench::Tls(arguments) => session.bench("tls", |session| tls::run(session, arguments)),
        Bench::Connect(arguments) => session.bench("connect", |session| connect::run(session, arguments)),
        Bench::Flat(arguments) => session.bench("flat", |session| connect_cost::run(session, arguments)),
        Bench::Memory(arguments) => session.bench("memory", |session| memory::run(session, arguments)),
        Bench::Pace(arguments) => session.bench("pace", |session| pace::run(session, arguments)),
        Bench::File(arguments) => session.bench("file", |session| file::run(session, arguments)),
        Bench::Journey(arguments) => journey(&mut session, arguments),
        Bench::Users(arguments) => session.bench("users", |session| users::run(session, arguments)),
        Bench::Ramp(arguments) => session.bench("ramp", |session| ramp::run(session, arguments)),
        Bench::Meet(arguments) => session.bench("meet", |session| rendezvous::run(session, arguments)),
        Bench::Report(arguments) => session.bench("report", |session| report::run(session, arguments)),
        Bench::Search(arguments) => session.bench("search", |session| search::run(session, arguments)),
        Bench::Compare(arguments) => session.bench("compare", |session| compare::run(session, arguments)),
        Bench::Lab(arguments) => session.bench("lab", |session| lab::run(session, arguments)),
        Bench::Routing => session.bench("routing", routing::run),
        Bench::Million(arguments) => session.bench("million", |session| million::run(session, arguments)),
    }
    if matches!(arguments.bench, Bench::All | Bench::Million(_)) {
        summary(&session);
    }
    finish(session).map(drop)
}

/// One short round of every bench; what this machine cannot do, as `name: reason`.
pub(crate) fn smoke(root: &Path) -> Result<Vec<String>> {
    let size = Size { rounds: None, seconds: None, smoke: true };
    let Some(mut session) = Session::open(release(root), size)? else {
        return Ok(vec![TWO_CPUS.to_owned()]);
    };
    all(&mut session);
    summary(&session);
    finish(session)
}

/// One row of one bench, with the build that tests use: shows that benches run, and says nothing about speed.
pub(crate) fn smoke_one(root: &Path) -> Result<Vec<String>> {
    let size = Size { rounds: None, seconds: None, smoke: true };
    let wavetank = crate::target_folder(root).join("debug").join("wavetank");
    let Some(mut session) = Session::open(wavetank, size)? else {
        return Ok(vec![TWO_CPUS.to_owned()]);
    };
    let engine = Engine::best(&session);
    session.bench("http", |session| http::run(session, &http::HttpArguments::for_engine(engine)));
    summary(&session);
    finish(session)
}

/// The program that benches measure.
fn release(root: &Path) -> PathBuf {
    crate::target_folder(root).join("release").join("wavetank")
}

const TWO_CPUS: &str = "bench: needs two CPUs, one for the generator and one for the target";

/// Each goes on where another failed: the summary says so. What is asked of no engine by name is measured on the
/// best one here.
fn all(session: &mut Session) {
    for engine in [Engine::Uring, Engine::Epoll] {
        session.bench("http", |session| http::run(session, &http::HttpArguments::for_engine(engine)));
        session.bench("pace", |session| pace::run(session, &pace::PaceArguments::for_engine(engine)));
    }
    let engine = Engine::best(session);
    session.bench("serve", |session| serve::run(session, &serve::ServeArguments { engine }));
    session.bench("tls", |session| tls::run(session, &tls::TlsArguments::for_engine(engine)));
    session.bench("connect", |session| connect::run(session, &connect::ConnectArguments::for_engine(engine)));
    session.bench("flat", |session| {
        connect_cost::run(session, &connect_cost::FlatArguments::for_engine(engine))
    });
    for tls in [false, true] {
        session.bench("memory", |session| {
            memory::run(session, &memory::MemoryArguments::for_engine(engine, tls))
        });
    }
    session.bench("file", |session| file::run(session, &file::FileArguments::for_engine(engine)));
    journey(session, &journey::JourneyArguments::for_engine(engine));
    session.bench("users", |session| users::run(session, &users::UsersArguments::for_engine(engine)));
    session.bench("ramp", |session| ramp::run(session, &ramp::RampArguments::for_engine(engine)));
    session.bench("meet", |session| rendezvous::run(session, &rendezvous::MeetArguments::for_engine(engine)));
    session.bench("report", |session| report::run(session, &report::ReportArguments::for_target()));
    session.bench("search", |session| search::run(session, &search::SearchArguments::for_engine(engine)));
    session.bench("compare", |session| compare::run(session, &compare::CompareArguments::for_engine(engine)));
    session.bench("lab", |session| lab::run(session, &lab::LabArguments::default()));
    session.bench("routing", routing::run);
    session.bench("million", |session| million::run(session, &million::MillionArguments::for_engine(engine)));
}

/// Locust comes over the network, which a bench is cut off from.
fn journey(session: &mut Session, arguments: &journey::JourneyArguments) {
    let locust = locust::program(session);
    session.bench("journey", |session| journey::run(session, arguments, locust.as_deref()));
}

/// Every number once more, and what was left out.
fn summary(session: &Session) {
    println!("\nsummary");
    for score in &session.scores {
        println!("{}", score.line());
    }
    for line in &session.skipped {
        println!("SKIPPED    {line}");
    }
}

/// An error where a number was missed; what was left out, otherwise.
fn finish(session: Session) -> Result<Vec<String>> {
    let bad = session.scores.iter().filter(|score| score.standing.is_bad()).count();
    if bad > 0 {
        bail!("{bad} of {} numbers missed", session.scores.len());
    }
    Ok(session.skipped)
}

/// How a number's name goes on where it was measured with more than one thread.
fn on(threads: usize) -> String {
    if threads == 1 { String::new() } else { format!(" on {threads} threads") }
}

/// The middle value, the mean of two; nothing of nothing.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_is_the_middle() {
        let check = |values: &[f64], expected: Option<f64>| assert_eq!(median(values.to_vec()), expected);
        check(&[], None);
        check(&[3.0, 1.0, 2.0], Some(2.0));
        check(&[4.0, 1.0, 3.0, 2.0], Some(2.5));
    }
}
