//! The flow of a file's sessions, with the real binary: rendezvous, the end of the run, log output.

use std::time::Duration;

use wavetank_testkit::{Outcome, RunHarness, Script, Serve, Target, expect_time, retry_timing};

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

/// Runs the file with this text. TARGET in it is the target's URL.
fn run(trial: &RunHarness, target: &Target, text: &str, words: &str) -> Outcome {
    let file = trial.place().write("x.yaml", text.replace("TARGET", target.url("").trim_end_matches('/')));
    trial.load(&file, words.split_whitespace()).run()
}

fn target() -> Target {
    Target::start(Script::constant(Duration::from_millis(1)))
}

/// Thirty buyers, one of which cannot log in, meet at a rendezvous.
const SALE: &str = "\
wavetank: 1
name: sale
target: TARGET
data:
  accounts: {rows: ROWS, row: unique}
scenarios:
  crowd: {weight: 1, steps: [{get: /}]}
  buyer:
    phases:
      - {name: gather, users: 0 to 30, for: 400ms, sessions: 1 each}
      - {name: rush, pause: 600ms}
    on_failure: end_session
    before:
      - {post: \"/in?who=${accounts.user}\", name: login, check: [\"${accounts.user} != 7\"]}
    steps:
      - group: shopping
        steps:
          - {get: /look, name: look}
          - {rendezvous: doors, wait: 20s}
          - {post: \"/buy?who=${accounts.user}\", name: buy}
      - log: \"${accounts.user} has bought\"
    after:
      - {get: /out, name: logout}
phases:
  - {name: visits, rate: 50/s, for: 1s}
thresholds:
  - skew(doors) < 400ms
  - failed < 5%
";

#[test]
fn all_users_that_can_arrive_go_simultaneously() {
    for threads in ["--threads 1", "--threads 2"] {
        let (trial, target) = (trial(), target());
        let rows: Vec<String> = (0..30).map(|row| format!("{{user: \"{row}\"}}")).collect();
        let text = SALE.replace("ROWS", &format!("[{}]", rows.join(", ")));
        let outcome = run(&trial, &target, &text, threads);
        outcome.expect_exit(0);
        let result = outcome.json();
        let step = |name: &str| {
            let steps = result["steps"].as_array().expect("steps");
            let step = steps.iter().find(|step| step["name"] == name).expect("the step");
            step["requests"]["done"].as_u64().expect("a count")
        };
        assert_eq!(["login", "look", "buy", "logout"].map(step), [29, 29, 29, 29], "{outcome}");
        let events = result["events"].as_array().expect("events");
        let logged = events.iter().filter(|event| event["kind"] == "log").count();
        assert_eq!(logged, 29, "{outcome}");
        assert_eq!(outcome.stderr.matches("has bought").count(), 20, "the first ones are printed: {outcome}");
        assert_eq!(target.truth().requests, 50 + 30 + 29 * 3, "{outcome}");
    }
}

/// Checks a run that a journey ends: its exit code, its reasons, and that it ends early.
fn check_end(steps: &str, exit: i32, reason: Option<&str>) {
    let (trial, target) = (trial(), target());
    let text = format!(
        "wavetank: 1\nname: ending\ntarget: TARGET\nsteps:\n{steps}\nphases:\n  - {{users: 3, for: 60s}}\n"
    );
    let outcome = run(&trial, &target, &text, "");
    outcome.expect_exit(exit);
    let result = outcome.json();
    let duration = result["duration_s"].as_f64().expect("a duration");
    assert!(duration < 20.0, "it ended before its time: {outcome}");
    let reasons = result["verdict"]["reasons"].as_array().expect("reasons");
    match reason {
        None => assert!(reasons.is_empty(), "{outcome}"),
        Some(reason) => assert!(reasons.iter().any(|known| known == reason), "{outcome}"),
    }
    let ended = result["events"].as_array().expect("events").iter().any(|event| event["kind"] == "run_ended");
    assert!(ended, "{outcome}");
}

#[test]
fn a_journey_ends_the_run() {
    check_end("  - {get: /}\n  - {think: 50ms}\n  - {end: run}", 0, None);
    let failing = "  - {get: /}\n  - {think: 50ms}\n  - {get: /, name: buy, check: [status = 409], on_failure: end_run}";
    check_end(failing, 1, Some("on_failure"));
}

#[test]
fn a_rendezvous_of_arrivals_needs_a_number() {
    let (trial, target) = (trial(), target());
    let text = "wavetank: 1\ntarget: TARGET\nsteps:\n  - {rendezvous: doors, wait: 1s}\n  - {get: /}\n\
                phases:\n  - {rate: 10/s, for: 1s}\n";
    let outcome = run(&trial, &target, text, "");
    outcome.expect_exit(2);
    assert_eq!(outcome.json()["code"], "rendezvous_of", "{outcome}");
    assert_eq!(target.truth().connections, 0);
    let some = text.replace("wait: 1s", "wait: 300ms, of: 5");
    let outcome = run(&trial, &target, &some, "");
    outcome.expect_exit(0);
    assert_eq!(target.truth().requests, 10);
}

#[test]
fn ten_thousand_open_connections_go_together() {
    let serve = Serve::start(&trial().program(), &["--connections", "10500"]);
    retry_timing(|| {
        let trial = trial();
        let text = "wavetank: 1\ntarget: TARGET\nsteps:\n  - {get: /, name: in}\n  - {rendezvous: doors, wait: 50s}\n\
                    \x20 - {get: /, name: out}\nphases:\n  - {users: 0 to 10k, at: 4k/s, sessions: 1 each}\n";
        let file = trial.place().write("x.yaml", text.replace("TARGET", serve.url("").trim_end_matches('/')));
        let outcome = trial.load(&file, ["--threads", "1"]).run();
        outcome.expect_exit(0);
        let result = outcome.result();
        let [meeting] = result.at("rendezvous")[0]["meetings"].as_array().expect("meetings").as_slice()
        else {
            panic!("they met once: {outcome}");
        };
        assert_eq!((&meeting["of"], &meeting["present"]), (&10_000.into(), &10_000.into()), "{outcome}");
        let sent = meeting["sent"].as_u64().expect("a count");
        let skew = meeting["skew_us"].as_f64().unwrap_or(f64::MAX);
        assert_eq!(result.at("steps")[1]["requests"]["sent"], sent, "{outcome}");
        println!("{sent} of 10,000 connections, from the first to the last request sent: {skew} µs");
        // This is an unoptimised program. Requests that it did not start within a second are
        // dropped.
        let right = sent > 5_000 && skew < 1_500_000.0;
        expect_time(right, || format!("{sent} sent within {skew} µs: {outcome}"))
    });
}
