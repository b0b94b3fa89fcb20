//! Far more connections than a table of files holds, in each possible way, at both ends.
//!
//! 30,000 with tables of 6,000 files; `WAVETANK_MANY=100000` makes it 100,000 with tables of
//! 20,000.

use crate::ways;

use std::sync::{Mutex, PoisonError};

use wavetank_testkit::{Program, RunHarness, Serve, skip};
use ways::{Way, agree, can, engine_reported, masked, plan_reports, truth};

const CONNECTIONS: u64 = 30_000;
/// The kernel memory of both ends is 8 to 10 kB per connection. The rest is for other programs.
const MEMORY_BYTES_MIN: u64 = 4 << 30;

fn memory_available_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let value = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = value.and_then(|value| value.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kib.unwrap_or(0) * 1_024
}

#[expect(clippy::print_stdout, reason = "shown with `--nocapture`")]
fn check(test: &str, way: Way) {
    // The tests run one after the other, since each takes a gigabyte.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    if Program::foreign("prlimit").is_none() {
        return skip(test, "`prlimit` is not installed");
    }
    if memory_available_bytes() < MEMORY_BYTES_MIN {
        return skip(test, "less than 4 GiB of memory are available");
    }
    let count =
        std::env::var("WAVETANK_MANY").ok().map_or(CONNECTIONS, |many| many.parse().expect("a number"));
    let (files, connections) = (format!("--nofile={0}:{0}", count / 5), count.to_string());
    let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    if !can(test, &trial, way) {
        return;
    }
    let limited = |program: Program| masked(program, way).under(["prlimit", &files]);
    let serve = Serve::start(&limited(trial.program()), &["--connections", &connections]);
    let before = truth(&serve);
    let requests = (2 * count).to_string();
    let words = ["-c", &connections, "-n", &requests, "--source", "auto", "--open-rate", "20k/s"];
    let outcome = limited(trial.load(&serve.url("/"), words)).run();
    let result = outcome.result();
    // All users start simultaneously. The requests that this machine did not start within a second
    // are dropped.
    let (done, dropped) = (result.count("requests.done"), result.count_or_zero("dropped_by.behind"));
    assert_eq!(done + dropped, 2 * count, "{result}");
    assert_eq!(result.count("connections.opened"), count, "{result}");
    assert_eq!(result.count("connections.peak"), count, "{result}");
    assert_eq!(result.text("generator.engine"), way.engine, "{result}");
    agree(&result, &before, &serve);
    engine_reported(&outcome.stderr, way);
    plan_reports(&trial, way);
    println!(
        "{test}: {count} connections, {done} requests, {} threads, {} MB, {:?}",
        result.count("generator.threads"),
        result.count("generator.peak_rss_bytes") >> 20,
        outcome.took
    );
}

#[test]
fn memory_of_a_connection_leaves_out_what_threads_take() {
    for engine in ["uring", "epoll"] {
        let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
        if !can("memory_of_a_connection", &trial, Way { mask: "", engine, files: "shared" }) {
            continue;
        }
        let serve = Serve::start(&trial.program(), &["--connections", "2000"]);
        let words = ["-c", "1000", "-n", "1000", "--engine", engine];
        let result = trial.load(&serve.url("/"), words).run().result();
        let each = result.count("generator.connection_memory.bytes_per_connection");
        // About 250 bytes on both engines. Including the program's stacks, histograms and pages it
        // was 1,600.
        assert!((100..800).contains(&each), "{engine}: {each} bytes: {result}");
    }
}

#[test]
fn in_rings_of_io_uring() {
    check("in_rings_of_io_uring", Way { mask: "unshare,own_process", engine: "uring", files: "shared" });
}

#[test]
fn in_threads_with_files_of_their_own() {
    check(
        "in_threads_with_files_of_their_own",
        Way { mask: "uring,own_process", engine: "epoll", files: "per_thread" },
    );
}

#[test]
fn in_worker_processes() {
    check("in_worker_processes", Way { mask: "uring,unshare", engine: "epoll", files: "per_process" });
}
