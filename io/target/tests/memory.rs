//! Memory that the server needs for one held connection: an idle one, and one that waits for a slow
//! answer.
//!
//! Measured as the difference in allocated bytes between two numbers of connections. The server is
//! started with each of these numbers, since it reserves room ahead. The allocator counts the whole
//! process, so this test has a separate one.

use std::alloc::System;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use wavetank_driver::{Clock, Driver, DriverConfig, Epoll, Features, KernelSupport, StartReporter, spawn};
use wavetank_plan::{EngineChoice, FileTables};
use wavetank_target::{ServeOptions, start};
use wavetank_testkit::clock::poll_until;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The promised maximum of user memory for one held connection. Measured on x86-64: 197 bytes on
/// epoll and 206 to 220 on `io_uring` for an idle one. For one that waits for an answer: 328 and
/// 338, with 40 to 60 of them for the timer.
const BYTES_MAX: f64 = 350.0;

const FEW: usize = 2_000;
const MANY: usize = 22_000;
/// Number of tables of open files that the client ends are distributed over.
const TABLES: usize = 2;
/// Addresses of the server. With a single address, the kernel takes long to find a free port when
/// few are left.
const ADDRESSES: u8 = 8;
/// Files that each table must have: for clients, and for the server on epoll, which has one, too.
const FILES_MIN: u64 = MANY as u64 / TABLES as u64 + 200;
const PATIENCE: Duration = Duration::from_mins(1);

fn bytes() -> i64 {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated as i64 - stats.bytes_deallocated as i64
}

/// What clients ask for, and whether they wait for the answer.
#[derive(Clone, Copy)]
struct Ask {
    path: &'static str,
    answered: bool,
}

/// First the addresses that clients connect to, then a message that they may close.
type Orders = SyncSender<Vec<SocketAddr>>;

/// A thread with some of the clients.
fn clients(count: usize, ask: Ask) -> (JoinHandle<()>, Receiver<()>, Orders) {
    let (opened, all_open) = sync_channel(1);
    let (go, reported) = sync_channel::<Vec<SocketAddr>>(1);
    let life = move |start: StartReporter<(), String>| {
        let driver = Epoll::new(&DriverConfig::small(Clock::starting_now())).expect("a driver");
        let mut streams: Vec<TcpStream> = Vec::with_capacity(MANY);
        assert!(start.done(driver.waker().expect("an eventfd"), ()));
        let request = format!("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", ask.path);
        let to = reported.recv().expect("the test sends the addresses");
        for number in 0..count {
            let mut stream = TcpStream::connect(to[number % to.len()]).expect("the server listens");
            // Closed by reset, since this many ports are needed again immediately.
            rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).expect("a socket");
            stream.write_all(request.as_bytes()).expect("the kernel takes it");
            if ask.answered {
                stream.read_exact(&mut [0; 114]).expect("the small answer");
            }
            streams.push(stream);
        }
        opened.send(()).expect("the test waits");
        let _ = reported.recv();
    };
    let started = spawn("clients".to_owned(), FileTables::PerThread, life, |_| {}).expect("a thread");
    (started.handle, all_open, go)
}

/// Bytes that a server with `count` connections holds.
fn held_by(count: usize, engine: EngineChoice, ask: Ask) -> i64 {
    // Made first, with room for all they will have: what they take is not the server's.
    let crowd: Vec<_> = (0..TABLES).map(|_| clients(count / TABLES, ask)).collect();
    let before = bytes();
    let server = start(ServeOptions {
        listen: (1..=ADDRESSES).map(|last| SocketAddr::from(([127, 0, 0, last], 0))).collect(),
        threads: Some(TABLES as u32),
        engine,
        files: FileTables::PerThread,
        connections: count as u64,
        ..ServeOptions::default()
    })
    .expect("a free port");
    for (_, _, go) in &crowd {
        go.send(server.addresses().to_vec()).expect("it waits");
    }
    for (_, all_open, _) in &crowd {
        all_open.recv().expect("they connect");
    }
    let all_came = || (server.truth().requests == count as u64).then_some(());
    assert!(poll_until(PATIENCE, all_came).is_some(), "only {:?}", server.truth().connections);
    assert_eq!(server.truth().connections.open, count as u64);
    let held = bytes() - before;
    for (handle, _, go) in crowd {
        go.send(Vec::new()).expect("it waits");
        handle.join().expect("it only holds");
    }
    server.stop();
    held
}

/// Growth for each connection.
#[expect(clippy::print_stdout, reason = "`--nocapture` shows the numbers")]
fn check(engine: EngineChoice, ask: Ask) {
    let (few, many) = (held_by(FEW, engine, ask), held_by(MANY, engine, ask));
    let each = (many - few) as f64 / (MANY - FEW) as f64;
    println!("{engine:?} {}: {each:.0} bytes each", ask.path);
    assert!(each > 100.0, "{engine:?} {}: {each:.0} bytes each: not even its state", ask.path);
    assert!(
        each <= BYTES_MAX,
        "{engine:?} {}: {each:.0} bytes each: {few} at {FEW}, {many} at {MANY}",
        ask.path
    );
}

#[test]
fn a_held_connection_costs_little() {
    let name = "a_held_connection_costs_little";
    let before = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: before.maximum, ..before }).expect("up to the hard limit");
    if before.maximum.is_some_and(|most| most < FILES_MIN) {
        return wavetank_testkit::skip(name, "it needs 12,200 files");
    }
    let found: KernelSupport = Features::probe(Features::all());
    if found.best_file_tables() != FileTables::PerThread {
        return wavetank_testkit::skip(name, "this host lets no thread have its own files");
    }
    let asks = [Ask { path: "/", answered: true }, Ask { path: "/delay/100s", answered: false }];
    for ask in asks {
        check(EngineChoice::Epoll, ask);
        if wavetank_driver::probe_uring().is_ok() {
            check(EngineChoice::Uring, ask);
        }
    }
}
