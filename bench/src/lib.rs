//! `cargo xtask bench`: wall-clock comparisons in paired rounds of one run.
//!
//! Generator and target have one CPU each. The contestants of a round run one after the other, in
//! changing order, against one target that stays up. The judged value is the median of the ratios
//! of all rounds, never an absolute number of one machine. A round is void if the target does not
//! confirm the count of a contestant.
#![expect(clippy::print_stdout, reason = "a command-line program speaks on stdout")]

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::{Args, Subcommand};

pub mod child;
mod claims;
mod command_text;
mod compare;
mod connect;
mod connect_cost;
mod contestant;
mod counts;
mod cpus;
mod cycles;
mod engine;
mod file;
mod fill;
mod first_chart;
mod fleet;
mod goal;
mod grpc;
mod http;
mod http2;
mod http3;
mod journey;
mod journey_session;
mod lab;
mod lateness;
mod load_generator;
mod locust;
mod machine;
mod memory;
mod meter;
mod million;
mod namespace;
mod net;
mod nginx;
mod observe;
mod pace;
mod paired_rounds;
mod peers;
mod pool;
pub mod probe;
mod process;
pub mod programs;
mod ramp;
mod rendezvous;
mod report;
mod routing;
mod search;
mod serve;
mod server;
mod session;
mod size;
mod stamps;
mod stats;
pub mod stopwatch;
mod tls;
mod tls_target;
mod tsung;
mod usable_engine;
mod users;
mod watch;
mod websocket;

use engine::Engine;
use peers::Peer;
use session::Session;
use size::Size;

/// What to compare.
#[derive(Args)]
pub struct BenchArguments {
    #[command(subcommand)]
    bench: Bench,
    #[command(flatten)]
    size: Size,
}

#[derive(Subcommand)]
enum Bench {
    /// All numbers of all benches, and a summary.
    All,
    /// CPU per request compared with wrk, against `wavetank serve` and against a one-worker nginx.
    Http(http::HttpArguments),
    /// Requests per CPU second of `wavetank serve` compared with nginx, with wrk as the client of
    /// both.
    Serve(serve::ServeArguments),
    /// Requests and handshakes per CPU second over TLS, compared with wrk and h2load.
    Tls(tls::TlsArguments),
    /// A new connection for each request, compared with wrk, h2load and ab, with many and with few
    /// free ports.
    Connect(connect::ConnectArguments),
    /// Cost of connecting while more and more connections are held.
    Flat(connect_cost::FlatArguments),
    /// User memory per idle connection.
    Memory(memory::MemoryArguments),
    /// CPU per request over HTTP/2 compared with h2load, with 1 and 32 streams per connection.
    Http2(http2::Http2Arguments),
    /// CPU per request over HTTP/3 compared with oha.
    Http3(http3::Http3Arguments),
    /// CPU per unary call of gRPC compared with ghz.
    Grpc(grpc::GrpcArguments),
    /// Messages of WebSocket connections per CPU second, compared with Tsung and artillery.
    Websocket(websocket::WebsocketArguments),
    /// Send lag of an open load, compared with the lateness of a bare sleep-and-spin loop.
    Pace(pace::PaceArguments),
    /// CPU per request of an experiment file, compared with a run of one URL.
    File(file::FileArguments),
    /// Sessions of a journey per CPU second, compared with Tsung and Locust.
    Journey(journey::JourneyArguments),
    /// User memory per thinking user.
    Users(users::UsersArguments),
    /// Requests sent in each second of a ramp, compared with the plan.
    Ramp(ramp::RampArguments),
    /// Time between the first and the last request of a rendezvous.
    Meet(rendezvous::MeetArguments),
    /// Size of archives of an hour and of a day, and time of reports of them.
    Report(report::ReportArguments),
    /// Whether the limit that a search finds includes the known capacity of a target, 20 times.
    Search(search::SearchArguments),
    /// False alarms of `wavetank compare` in real pairs, and detection of a planted difference.
    Compare(compare::CompareArguments),
    /// A lab of eight hosts, started and stopped repeatedly: the times, and what is left.
    Lab(lab::LabArguments),
    /// Direct routing, NAT and `HAProxy` in one lab: requests per second, CPU per request.
    Routing,
    /// CPU of both ends of `wavetank net` per megabit of TCP, compared with iperf3.
    Net,
    /// CPU of the coordinator of four load hosts, compared with Locust and Tsung, and start skew.
    Fleet,
    /// CPU and memory of the observer of a host with 100,000 sockets.
    Observe(observe::ObserveArguments),
    /// A rate without `-c`, compared with 64 connections: p99, and the limit that a search finds.
    Pool(pool::PoolArguments),
    /// Cost of watching a run: view, page and metrics, at 80 % of the generator's limit.
    Watch(watch::WatchArguments),
    /// A million held connections: losses, memory and CPU of both ends, simultaneous requests.
    Million(million::MillionArguments),
}

/// Runs the benches named on the command line. Fails if a number misses its target.
pub fn run(root: &Path, arguments: &BenchArguments) -> Result<()> {
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
        Bench::Http2(arguments) => session.bench("http2", |session| http2::run(session, arguments)),
        Bench::Http3(arguments) => http3(&mut session, arguments),
        Bench::Grpc(arguments) => grpc(&mut session, arguments),
        Bench::Websocket(arguments) => websocket(&mut session, arguments),
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
        Bench::Net => session.bench("net", net::run),
        Bench::Fleet => fleet(&mut session),
        Bench::Observe(arguments) => {
            session.bench("observe", |session| observe::run(session, arguments));
        }
        Bench::Pool(arguments) => session.bench("pool", |session| pool::run(session, arguments)),
        Bench::Watch(arguments) => session.bench("watch", |session| watch::run(session, arguments)),
        Bench::Million(arguments) => session.bench("million", |session| million::run(session, arguments)),
    }
    if matches!(arguments.bench, Bench::All | Bench::Million(_)) {
        summary(&session);
    }
    finish(session).map(drop)
}

/// Runs one short round of every bench. Returns what was skipped on this machine, as `name:
/// reason`.
pub fn smoke(root: &Path) -> Result<Vec<String>> {
    let Some(mut session) = Session::open(release(root), Size::SMOKE)? else {
        return Ok(vec![TWO_CPUS.to_owned()]);
    };
    all(&mut session);
    summary(&session);
    finish(session)
}

/// Runs one row of one bench, with the build that tests use. It shows that benches run, and
/// measures no speed.
pub fn smoke_one(root: &Path) -> Result<Vec<String>> {
    let wavetank = programs::target_folder(root).join("debug").join("wavetank");
    let Some(mut session) = Session::open(wavetank, Size::SMOKE)? else {
        return Ok(vec![TWO_CPUS.to_owned()]);
    };
    let engine = Engine::best(&session);
    session.bench("http", |session| http::run(session, &http::HttpArguments::for_engine(engine)));
    summary(&session);
    finish(session)
}

/// Returns the program that the benches measure.
fn release(root: &Path) -> PathBuf {
    programs::target_folder(root).join("release").join("wavetank")
}

const TWO_CPUS: &str = "bench: needs two CPUs, one for the generator and one for the target";

/// Runs all benches. After a failure the next bench still runs, and the summary shows the failure.
/// Benches that need no specific engine use the best one here.
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
    for (tls, websocket) in [(false, false), (true, false), (false, true)] {
        session.bench("memory", |session| {
            memory::run(session, &memory::MemoryArguments::for_engine(engine, tls, websocket))
        });
    }
    session.bench("file", |session| file::run(session, &file::FileArguments::for_engine(engine)));
    journey(session, &journey::JourneyArguments::for_engine(engine));
    session.bench("http2", |session| http2::run(session, &http2::Http2Arguments::for_engine(engine)));
    http3(session, &http3::Http3Arguments::for_engine(engine));
    grpc(session, &grpc::GrpcArguments::for_engine(engine));
    websocket(session, &websocket::WebsocketArguments::for_engine(engine));
    session.bench("users", |session| users::run(session, &users::UsersArguments::for_engine(engine)));
    session.bench("ramp", |session| ramp::run(session, &ramp::RampArguments::for_engine(engine)));
    session.bench("meet", |session| rendezvous::run(session, &rendezvous::MeetArguments::for_engine(engine)));
    session.bench("report", |session| report::run(session, &report::ReportArguments::for_target()));
    session.bench("search", |session| search::run(session, &search::SearchArguments::for_engine(engine)));
    session.bench("compare", |session| compare::run(session, &compare::CompareArguments::for_engine(engine)));
    session.bench("lab", |session| lab::run(session, &lab::LabArguments::default()));
    session.bench("routing", routing::run);
    session.bench("net", net::run);
    fleet(session);
    session.bench("observe", |session| observe::run(session, &observe::ObserveArguments::for_engine(engine)));
    session.bench("pool", |session| pool::run(session, &pool::PoolArguments::for_engine(engine)));
    session.bench("watch", |session| watch::run(session, &watch::WatchArguments::for_engine(engine)));
    session.bench("million", |session| million::run(session, &million::MillionArguments::for_engine(engine)));
}

/// Installs Locust first. A bench has no access to the network, so every peer comes before it.
fn journey(session: &mut Session, arguments: &journey::JourneyArguments) {
    let locust = Peer::Locust.installed(session, "journey");
    session.bench("journey", |session| journey::run(session, arguments, locust.as_deref()));
}

fn fleet(session: &mut Session) {
    let locust = Peer::Locust.installed(session, "fleet");
    session.bench("fleet", |session| fleet::run(session, locust.as_deref()));
}

fn http3(session: &mut Session, arguments: &http3::Http3Arguments) {
    let oha = Peer::Oha.installed(session, "http3");
    session.bench("http3", |session| http3::run(session, arguments, oha.as_deref()));
}

fn grpc(session: &mut Session, arguments: &grpc::GrpcArguments) {
    let ghz = Peer::Ghz.installed(session, "grpc");
    session.bench("grpc", |session| grpc::run(session, arguments, ghz.as_deref()));
}

fn websocket(session: &mut Session, arguments: &websocket::WebsocketArguments) {
    let artillery = Peer::Artillery.installed(session, "websocket");
    session.bench("websocket", |session| websocket::run(session, arguments, artillery.as_deref()));
}

/// Prints every number again, and what was skipped.
fn summary(session: &Session) {
    println!("\nsummary");
    for score in &session.scores {
        println!("{}", score.line());
    }
    for line in &session.skipped {
        println!("SKIPPED    {line}");
    }
}

/// Fails if a number missed its target. Otherwise returns what was skipped.
fn finish(session: Session) -> Result<Vec<String>> {
    let bad = session.scores.iter().filter(|score| score.standing.is_bad()).count();
    if bad > 0 {
        bail!("{bad} of {} numbers missed", session.scores.len());
    }
    Ok(session.skipped)
}
