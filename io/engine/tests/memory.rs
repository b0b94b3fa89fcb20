//! Measures the user memory of an idle connection, engine and driver together.
//!
//! The memory is the growth of the allocator between two numbers of open connections. The larger
//! one is just above a power of two, where arrays that grow by doubling are emptiest.

use std::alloc::System;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketType, bind, listen, socket};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use wavetank_driver::{Clock, Feature, Features};
use wavetank_engine::{LoadConfig, LoadThreads, Message};
use wavetank_experiment::plan_url;
use wavetank_pace::Partition;
use wavetank_plan::{EngineChoice, HostFacts, Plan, RunOptions, TargetUrl};
use wavetank_units::{Nanos, Rate};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The limit for the user memory of one idle plain connection. Measured (x86-64): 237 on epoll, 264
/// on `io_uring`. Of these, 176 are the slot and 32 the timer of its opening.
const BYTES_MAX: f64 = 300.0;

const FEW: u64 = 1_000;
const MANY: u64 = 8_200;

fn plan(connections: u64, address: SocketAddr) -> Plan {
    let options = RunOptions {
        connections: Some(connections),
        threads: Some(1),
        open_rate: Some(Rate::per_second(10_000)),
        ..RunOptions::default()
    };
    let host = HostFacts { addresses: vec![address.ip()], ..HostFacts::for_tests(1) };
    let url = TargetUrl::parse(&format!("http://{address}/")).expect("a URL");
    plan_url(&options, &url, &[address], &host).expect("a plan").plan
}

fn bytes() -> i64 {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated as i64 - stats.bytes_deallocated as i64
}

/// Returns a listener with room for bursts: a client that finds no room retries after a second.
fn listener() -> TcpListener {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a free port");
    listen(&socket, 4_096).expect("it is bound");
    let listener = TcpListener::from(socket);
    listener.set_nonblocking(true).expect("a fresh socket");
    listener
}

/// Returns the bytes that load threads with `connections` open connections allocate.
fn held_by(connections: u64, engine: EngineChoice) -> i64 {
    let listener = listener();
    let address = listener.local_addr().expect("an address");
    let plan = Arc::new(Plan { engine, ..plan(connections, address) });
    let means = LoadConfig::plain(&plan).expect("a plain plan");
    let mut peers: Vec<TcpStream> = Vec::with_capacity(connections as usize);
    let before = bytes();
    let threads =
        LoadThreads::prepare(&plan, Partition::WHOLE, Clock::starting_now(), &means).expect("a thread");
    let clock = Clock::starting_now();
    loop {
        peers.extend(std::iter::from_fn(|| listener.accept().ok()).map(|(peer, _)| peer));
        match threads.message(Duration::from_millis(1)) {
            Some(Message::Ready(..)) => break,
            None => assert!(clock.now() < Nanos::from_secs(60), "{} connections came", peers.len()),
            other => panic!("{other:?}"),
        }
    }
    peers.extend(std::iter::from_fn(|| listener.accept().ok()).map(|(peer, _)| peer));
    assert_eq!(peers.len(), connections as usize, "all are open");
    let held = bytes() - before;
    threads.join();
    held
}

/// Checks the growth per connection.
fn check(engine: EngineChoice) {
    let (few, many) = (held_by(FEW, engine), held_by(MANY, engine));
    let each = (many - few) as f64 / (MANY - FEW) as f64;
    assert!(each > 16.0, "{engine:?}: {each:.0} bytes each: less than its number and state");
    assert!(each <= BYTES_MAX, "{engine:?}: {each:.0} bytes each: {few} at {FEW}, {many} at {MANY}");
}

#[test]
fn an_idle_connection_costs_little() {
    let before = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: before.maximum, ..before }).expect("up to the hard limit");
    let needed = 2 * MANY + 100;
    if before.maximum.is_some_and(|most| most < needed) {
        return wavetank_testkit::skip("an_idle_connection_costs_little", "it needs 16,500 files");
    }
    check(EngineChoice::Epoll);
    if Features::probe(Features::all()).missing(Feature::Uring).is_none() {
        check(EngineChoice::Uring);
    }
}
