//! Truth suite: a run that is stopped from outside still reports what happened.

use std::time::Duration;

use wavetank_testkit::{
    RunHarness, RunResult, Running, Script, Signal, Stamp, Target, TimingMismatch, expect_time, retry_timing,
    skip,
};

const SECOND: Duration = Duration::from_secs(1);

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Starts load and waits until the target has seen `requests` of it.
fn under_load(trial: &RunHarness, target: &Target, words: &str, requests: u64) -> Running {
    let running = trial.load(&target.url("/"), words.split_whitespace()).start();
    target.wait_for("load", 60 * SECOND, |truth| truth.requests >= requests);
    running
}

#[track_caller]
fn check_stopped(result: &RunResult) {
    assert_eq!(result.status(), "incomplete", "{result}");
    let reasons = result.at("verdict.reasons").as_array().expect("reasons are a list");
    assert!(reasons.iter().any(|reason| reason == "signal"), "{result}");
}

#[test]
fn the_first_signal_drains() {
    for signal in [Signal::INT, Signal::TERM] {
        let target = Target::start(Script::constant(ms(300)));
        let trial = trial();
        let running = under_load(&trial, &target, "-c 8 -d 60s --no-probe", 20);
        running.signal(signal);
        let outcome = running.wait(60 * SECOND);
        let result = trial.check(&outcome, &target, 130);
        check_stopped(&result);
        assert_eq!(result.count("requests.open"), 0, "all were answered in the drain: {result}");
        assert_eq!(result.count("requests.done"), result.count("requests.offered"), "{result}");
        assert_eq!(trial.place().runs("runs").len(), 1, "the archive is there");
        let report = trial.program().args(["report", "latest", "--format", "json"]).run();
        assert_eq!(report.expect_exit(0).result(), result, "and says the same");
    }
}

#[test]
fn an_open_run_drains_too() {
    let target = Target::start(Script::constant(ms(200)));
    let trial = trial();
    let running = under_load(&trial, &target, "-r 100/s -d 60s --no-probe --threads 2", 50);
    running.signal(Signal::INT);
    let outcome = running.wait(60 * SECOND);
    let result = trial.check(&outcome, &target, 130);
    check_stopped(&result);
    assert_eq!(result.count("requests.open"), 0, "{result}");
}

#[test]
fn the_second_signal_stops_immediately_and_still_reports() {
    let target = Target::start(Script::silence());
    let trial = trial();
    let running = under_load(&trial, &target, "-c 6 -d 60s --no-probe", 6);
    running.signal(Signal::INT);
    assert!(!running.ends_within(ms(700)), "it drains: six requests are in flight");
    running.signal(Signal::INT);
    let outcome = running.wait(60 * SECOND);
    let result = trial.check(&outcome, &target, 130);
    check_stopped(&result);
    assert_eq!(result.count("requests.open"), 6, "{result}");
    assert_eq!(result.count("response_us.censored"), 6, "{result}");
    let waited = result.time("response_us.min");
    assert!(waited >= ms(650), "with the time they waited: {waited:?}: {result}");
    let longest = result.time("response_us.max");
    assert!(longest < 10 * SECOND, "the drain after one signal would last 10 s: {longest:?}: {result}");
}

#[test]
fn a_drain_after_a_signal_is_bounded() {
    let target = Target::start(Script::silence());
    let trial = trial();
    let running = under_load(&trial, &target, "-c 3 -d 60s --drain 1s --no-probe", 3);
    running.signal(Signal::TERM);
    let outcome = running.wait(60 * SECOND);
    let result = trial.check(&outcome, &target, 130);
    assert_eq!(result.count("requests.open"), 3, "{result}");
}

/// Kills a run after the target has seen `requests`, and checks its archive.
#[track_caller]
fn check_killed(requests: u64) {
    retry_timing(|| attempt_killed(requests));
}

#[track_caller]
fn attempt_killed(requests: u64) -> Result<(), TimingMismatch> {
    // Slow enough that some requests are in flight whenever an interval is sealed.
    let target = Target::start(Script::constant(ms(40)));
    let trial = trial();
    let running = under_load(&trial, &target, "-r 200/s -d 60s --arrivals even --no-probe", requests);
    running.signal(Signal::KILL);
    let outcome = running.wait(60 * SECOND);
    assert_eq!(outcome.signal, Some(9), "{outcome}");
    let runs = trial.place().runs("runs");
    assert_eq!(runs.len(), 1, "killed after {requests}: {outcome}");
    assert!(!runs[0].join("run.json").exists(), "run.json means finished");
    let report = trial.program().args(["report", "latest", "--format", "json"]).run();
    let result = report.expect_exit(0).result();
    assert_eq!(result.status(), "incomplete", "{result}");
    result.conserved();
    // All sealed intervals are there: full seconds of 200, and no request that the target has not
    // seen. The target may read the last ones after the kill.
    let [offered, sent] = ["offered", "sent"].map(|name| result.count(&format!("requests.{name}")));
    let seen = target.settled().requests;
    assert_eq!(offered % 200, 0, "whole intervals: {result}");
    assert!(sent <= seen, "killed after {seen}: {result}");
    let text = trial.program().args(["report", "latest"]).run();
    assert!(text.expect_exit(0).stdout.to_lowercase().contains("incomplete"), "{text}");
    // A late generator offers what it has not sent yet, or seals an interval late.
    expect_time(offered <= seen + 1 && offered + 420 > seen, || format!("killed after {seen}: {result}"))
}

#[test]
fn a_kill_at_any_moment_leaves_an_archive_that_opens() {
    // Moments are counted in requests at the target: before the first seal, and around seals.
    for requests in [1, 199, 201] {
        check_killed(requests);
    }
}

#[test]
fn a_kill_at_a_random_moment_leaves_an_archive_that_opens() {
    // The clock's last digits are random enough. The messages of `check_killed` contain the number.
    for _ in 0..4 {
        check_killed(2 + Stamp::now().0 % 500);
    }
}

/// Stops the whole generator for `pause` while its threads sleep. A note must report the effect on
/// the longest times. A machine with slow turns in more than 1 % of all turns has a finding
/// `stalled` instead, and another run is tried.
#[track_caller]
fn check_paused(engine: &str, threads: u32, pause: Duration) {
    let name = "a_generator_that_stood_still_in_its_sleep_says_so";
    for _ in 0..5 {
        let Some(result) = result_of_paused(engine, threads, pause) else { return skip(name, engine) };
        if result.at("notes").to_string().contains("a load thread stalled for") {
            return;
        }
        let findings = result.at("findings").as_array().expect("findings");
        assert!(findings.iter().any(|finding| finding["code"] == "stalled"), "{engine}: {result}");
    }
    skip(name, "this machine is too slow: the doubt `stalled` was reported in each of five runs");
}

/// Returns the result of a run that was stopped for `pause`, or `None` if the engine does not run
/// here.
#[track_caller]
fn result_of_paused(engine: &str, threads: u32, pause: Duration) -> Option<RunResult> {
    let target = Target::start(Script::constant(ms(5)));
    let trial = trial();
    let words = format!("-c 4 -n 800 --threads {threads} --engine {engine} --no-probe");
    let running = under_load(&trial, &target, &words, 80);
    running.signal(Signal::STOP);
    assert!(!running.ends_within(pause), "it is stopped");
    running.signal(Signal::CONT);
    let outcome = running.wait(60 * SECOND);
    if outcome.exit == Some(5) {
        return None;
    }
    let result = outcome.expect_exit(0).result();
    // In service if the threads slept, as planned. If one was at work, it is lag.
    let longest = result.time("response_us.max");
    assert!(longest + ms(50) >= pause, "{engine}: the pause is in the times: {longest:?}: {result}");
    Some(result)
}

#[test]
fn a_generator_that_stood_still_in_its_sleep_says_so() {
    for engine in ["uring", "epoll"] {
        check_paused(engine, 1, ms(600));
    }
    check_paused("auto", 2, ms(300));
}
