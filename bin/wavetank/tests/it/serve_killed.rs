//! A server with worker processes that are killed while busy: it continues to serve and count, and
//! ends on request.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, kill_process};
use serde_json::Value;
use wavetank_testkit::clock::poll_until;
use wavetank_testkit::{Client, Program, Serve, Signal, skip};

/// Number of worker processes of the server.
const WORKERS: usize = 4;
/// More than enough clients for each worker to get one by chance.
const CLIENTS: usize = 32;
/// Requests sent in one write, so that workers are busy most of the time.
const AT_ONCE: usize = 64;
const PATIENCE: Duration = Duration::from_mins(1);

/// Returns the children of all threads of a process.
fn children(of: u32) -> Vec<Pid> {
    let tasks = fs::read_dir(format!("/proc/{of}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let ids = lists.collect::<Vec<_>>().join(" ");
    ids.split_whitespace().filter_map(|id| Pid::from_raw(id.parse().ok()?)).collect()
}

/// Sends requests as fast as they are answered, until the connection breaks.
fn ask_until_broken(to: SocketAddr, answer_len: usize, answers: &AtomicU64) {
    let Ok(mut stream) = TcpStream::connect(to) else { return };
    stream.set_read_timeout(Some(PATIENCE)).expect("a positive timeout");
    let requests = "GET / HTTP/1.1\r\nHost: test\r\n\r\n".repeat(AT_ONCE);
    let mut buffer = vec![0; AT_ONCE * answer_len];
    while stream.write_all(requests.as_bytes()).is_ok() && stream.read_exact(&mut buffer).is_ok() {
        answers.fetch_add(AT_ONCE as u64, Ordering::Relaxed);
    }
}

/// Kills `killed` workers while they are busy. The others serve until they are asked to end.
fn check(test: &str, killed: usize) {
    if Program::foreign("prlimit").is_none() {
        return skip(test, "`prlimit` is not installed");
    }
    let program = Program::new(env!("CARGO_BIN_EXE_wavetank"))
        .environment("WAVETANK_MASK", "uring,unshare")
        .under(["prlimit", "--nofile=128:128"]);
    let serve = Serve::start(&program, &["--threads", &WORKERS.to_string(), "--connections", "300"]);
    // The first worker accepts before the last one has started. The engine is reported when all
    // have.
    let workers = poll_until(PATIENCE, || {
        let workers = children(serve.running().id());
        (workers.len() == WORKERS && serve.running().stderr().contains("engine ")).then_some(workers)
    });
    let workers = workers.unwrap_or_else(|| panic!("not {WORKERS} workers: {}", serve.running().stderr()));
    let (to, answers) = (serve.address(), &AtomicU64::new(0));
    let outcome = thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(move || ask_until_broken(to, 114, answers));
        }
        let busy = poll_until(PATIENCE, || (answers.load(Ordering::Relaxed) > 20_000).then_some(()));
        assert!(busy.is_some(), "only {answers:?} answers");
        for &worker in &workers[..killed] {
            kill_process(worker, Signal::KILL).expect("it lives, and is ours");
        }
        let reported =
            || serve.running().stderr().matches("ended by signal 9; its connections are lost").count();
        let all_reported = poll_until(PATIENCE, || (reported() == killed).then_some(()));
        assert!(all_reported.is_some(), "the loss is not reported: {}", serve.running().stderr());
        let left = WORKERS - killed;
        if left > 0 {
            let came = answers.load(Ordering::Relaxed);
            // One of the remaining workers answers, while other clients still send requests.
            let answer = Client::connect(to).get("/truth");
            let truth: Value = serde_json::from_slice(&answer.body).expect("/truth is JSON");
            assert_eq!(truth["threads"], left, "{truth:#}");
            let counted = truth["requests"].as_u64().expect("a count");
            assert!(counted >= came, "{came} responses had arrived, but {counted} requests are counted");
            // The database threads serve them as before.
            for path in ["/tier/query", "/tier/transaction"] {
                assert_eq!(Client::connect(to).get(path).status, 200, "{path}");
            }
            serve.running().signal(Signal::INT);
        }
        serve.into_running().wait(PATIENCE)
    });
    assert!(outcome.stderr.contains("\nserved "), "{outcome}");
    outcome.expect_exit(if killed < WORKERS { 0 } else { 5 });
}

#[test]
fn killed_workers_take_nothing_with_them_but_their_connections() {
    check("killed_workers_take_nothing_with_them_but_their_connections", WORKERS - 1);
}

#[test]
fn a_server_without_workers_ends() {
    check("a_server_without_workers_ends", WORKERS);
}
