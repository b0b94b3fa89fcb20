//! A kernel that is short of memory for io\_uring's requests, for a moment and permanently.
//! `strace` makes the calls fail.

use wavetank_testkit::{Client, Outcome, Program, RunHarness, Serve, skip};

/// Returns `program` such that calls of `io_uring_enter` fail with `EAGAIN`. `when` selects the
/// calls by their number on each thread.
fn failing(test: &str, trial: &RunHarness, program: Program, when: &str) -> Option<Program> {
    let uring = trial.program().args(["run", "http://127.0.0.1:1/", "-n", "1", "--engine", "uring"]).run();
    let Some(strace) = Program::foreign("strace").filter(|_| uring.exit != Some(5)) else {
        skip(test, "no strace, or no io_uring");
        return None;
    };
    let inject = format!("inject=io_uring_enter:error=EAGAIN:when={when}");
    let trace = trial.place().file("trace");
    let strace = strace.args(["-f", "-qq", "-e", "trace=io_uring_enter", "-e", &inject, "-o", &trace]);
    let program = program.under(strace.arguments());
    // A command without io_uring shows whether strace may trace at all.
    let version = trial.program().args(["--version"]).under(strace.arguments()).run();
    if version.exit != Some(0) {
        skip(test, &format!("strace may not trace here: {version}"));
        return None;
    }
    Some(program)
}

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

const LOAD: [&str; 9] = ["-c", "4", "-n", "400", "--threads", "1", "--no-probe", "--engine", "uring"];

#[test]
fn a_moment_without_memory_costs_nothing_but_time() {
    let trial = trial();
    let serve = Serve::start(&trial.program(), &["--threads", "1", "--engine", "epoll"]);
    let load = trial.load(&serve.url("/"), LOAD);
    let test = "a_moment_without_memory_costs_nothing_but_time";
    let Some(load) = failing(test, &trial, load, "30..180") else { return };
    let result = load.run().expect_exit(0).result();
    result.conserved();
    assert_eq!(result.count("requests.done"), 400, "{result}");
    let truth: serde_json::Value =
        serde_json::from_slice(&Client::connect(serve.address()).get("/truth").body).expect("/truth is JSON");
    assert_eq!(truth["requests"], result.sent_total(), "{result}");
}

/// One error, one hint, no stack trace.
#[track_caller]
fn check_reported(outcome: &Outcome, exit: i32, word: &str) {
    outcome.expect_exit(exit);
    assert!(!outcome.stderr.contains("panicked"), "{outcome}");
    let said = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(said.contains(word) && said.contains("EAGAIN"), "{outcome}");
}

#[test]
fn a_run_without_memory_ends_and_says_why() {
    let trial = trial();
    let serve = Serve::start(&trial.program(), &["--threads", "1", "--engine", "epoll"]);
    let load = trial.load(&serve.url("/"), LOAD);
    let Some(load) = failing("a_run_without_memory_ends_and_says_why", &trial, load, "30+") else { return };
    let outcome = load.run();
    check_reported(&outcome, 4, "lost");
    let result = outcome.result();
    assert!(result.count("requests.done") < 400, "{result}");
}

#[test]
fn a_server_without_memory_ends_and_says_why() {
    let trial = trial();
    let serve = trial.program();
    let test = "a_server_without_memory_ends_and_says_why";
    let Some(program) = failing(test, &trial, serve, "60+") else { return };
    let serve = Serve::start(&program, &["--threads", "2", "--engine", "uring"]);
    let load = trial.load(&serve.url("/"), ["-c", "4", "-n", "4000", "--timeout", "2s", "--no-probe"]);
    load.run();
    let outcome = serve.into_running().wait(std::time::Duration::from_mins(1));
    check_reported(&outcome, 5, "the server cannot go on");
    assert_eq!(outcome.stderr.lines().filter(|line| line.starts_with("error:")).count(), 1, "{outcome}");
    assert_eq!(outcome.stderr.lines().filter(|line| line.starts_with("hint:")).count(), 1, "{outcome}");
}
