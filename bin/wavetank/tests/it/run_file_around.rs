//! The steps that a run executes once before and once after its load.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use wavetank_testkit::{Outcome, RunHarness, RunResult, Script, ScriptAction, Signal, Target, answer};

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

/// A shop: `POST /open` returns today's sale, `/buy/17` sells in it, `/sold` returns how much was
/// sold.
fn shop() -> Target {
    let sold = Arc::new(AtomicU64::new(0));
    Target::start(Script::new(move |seen| {
        let sent = match seen.path.as_str() {
            "/open" => answer(200, br#"{"sale": 17, "list": [1, 2]}"#),
            "/buy/17" => {
                sold.fetch_add(1, Ordering::Relaxed);
                answer(200, b"yours")
            }
            "/sold" => answer(200, format!("{{\"sold\": {}}}", sold.load(Ordering::Relaxed)).as_bytes()),
            _ => answer(404, b""),
        };
        vec![ScriptAction::Send(sent)]
    }))
}

/// Runs a file with this `before` and `after` around ten sessions that buy once each.
fn run(target: &Target, trial: &RunHarness, before: &str, after: &str) -> Outcome {
    let text = format!(
        "wavetank: 1\ntarget: {}\nbefore: {before}\n\
         steps: [{{get: \"/buy/${{sale}}\", count: {{sold: status = 200}}}}]\n\
         phases: [{{users: 2, for: 20s, sessions: 10}}]\nafter: {after}\n",
        target.url("").trim_end_matches('/')
    );
    let file = trial.place().write("x.yaml", text);
    trial.load(&file, [""; 0]).run()
}

const OPEN: &str = "[{post: /open, extract: {sale: json $.sale}}]";

#[test]
fn what_before_finds_the_load_uses_and_after_checks_it() {
    let (target, trial) = (shop(), trial());
    let after = "[{get: /sold, check: [\"json $.sold = ${count.sold}\", \"json $.sold = 10\"]}]";
    let result = trial.check(&run(&target, &trial, OPEN, after), &target, 0);
    assert_eq!(result.count("requests.done"), 10, "{result}");
    assert_eq!((result.count("setup.sent"), result.count("setup.done")), (2, 2), "{result}");
    // The archive alone has them, too. Without run.json the run counts as killed.
    let folder = trial.place().runs("runs").pop().expect("an archive is kept");
    std::fs::remove_file(folder.join("run.json")).expect("it is there");
    let read = trial.program().args(["report", "latest", "--format", "json"]).run();
    let read = read.expect_exit(0).result();
    assert_eq!((read.at("setup"), read.at("events")), (result.at("setup"), result.at("events")), "{read}");
}

#[test]
fn a_before_that_fails_is_no_load() {
    for before in [
        "[{get: /nowhere, extract: {sale: json $.sale}}]",
        "[{post: /open, check: [\"json $.sale = 18\"], extract: {sale: json $.sale}}]",
        "[{post: /open, extract: {sale: json $.nothing}}]",
    ] {
        let (target, trial) = (shop(), trial());
        let outcome = run(&target, &trial, before, "[{get: /sold}]");
        outcome.expect_exit(4);
        let result = outcome.result();
        assert_eq!(result.text("verdict.status"), "incomplete", "{result}");
        assert!(result.at("verdict.reasons").to_string().contains("before"), "{result}");
        assert_eq!(result.count("requests.offered"), 0, "{result}");
        assert_eq!((result.count("setup.sent"), result.count("setup.failed")), (1, 1), "{result}");
        assert_eq!(target.truth().requests, 1, "nothing but the one");
        assert_eq!(trial.place().runs("runs").len(), 1, "it was sent, so it is reported");
    }
}

#[test]
fn an_after_that_fails_is_a_failed_run() {
    for after in ["[{get: /nowhere}]", "[{get: /sold, check: [\"json $.sold = 11\"]}]"] {
        let (target, trial) = (shop(), trial());
        let outcome = run(&target, &trial, OPEN, after);
        let result = trial.check(&outcome, &target, 1);
        assert_eq!(result.text("verdict.status"), "fail", "{result}");
        assert_eq!((result.count("setup.done"), result.count("setup.failed")), (1, 1), "{result}");
        assert_eq!(result.count("requests.done"), 10, "{result}");
    }
}

/// Interrupts a run while it waits for the response to `path`, and returns its result.
#[track_caller]
fn interrupted(path: &'static str, before: &str, after: &str) -> RunResult {
    let target = Target::start(Script::new(move |seen| {
        // The response to `path` never comes.
        if seen.path == path { Vec::new() } else { vec![ScriptAction::Send(answer(200, b"{\"sale\": 17}"))] }
    }));
    let trial = trial();
    let text = format!(
        "wavetank: 1\ntarget: {}\nbefore: {before}\nsteps: [{{get: \"/buy/${{sale}}\"}}]\n\
         phases: [{{users: 2, for: 20s, sessions: 10}}]\nafter: {after}\n",
        target.url("").trim_end_matches('/')
    );
    let running = trial.load(&trial.place().write("x.yaml", text), [""; 0]).start();
    let waits = |truth: &wavetank_testkit::Truth| truth.by_path.contains_key(path);
    target.wait_for("the request", Duration::from_mins(1), waits);
    running.signal(Signal::INT);
    let outcome = running.wait(Duration::from_mins(1));
    trial.check(&outcome, &target, 130)
}

#[test]
fn a_signal_ends_what_is_done_around_the_load_too() {
    let before = interrupted("/open", OPEN, "[{get: /sold}]");
    assert_eq!(before.count("requests.offered"), 0, "no load after that: {before}");
    let after = interrupted("/sold", OPEN, "[{get: /sold}]");
    assert_eq!(after.count("requests.done"), 10, "the load was over by then: {after}");
    for result in [before, after] {
        assert_eq!(result.status(), "incomplete", "{result}");
        assert!(result.at("verdict.reasons").to_string().contains("signal"), "{result}");
    }
}
