//! `wavetank run FILE`: the target counts the load that the file describes.

use std::time::Duration;

use wavetank_testkit::{Outcome, RunHarness, RunResult, Script, Target, retry_timing_of};

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

fn target() -> Target {
    Target::start(Script::constant(Duration::from_millis(1)))
}

/// Runs the file with this text and these options, and compares its counts with the target's.
/// TARGET in the text is the target's URL. Returns `None` if the test was recorded as skipped.
fn run(target: &Target, text: &str, words: &str, exit: i32) -> Option<RunResult> {
    retry_timing_of(|| {
        target.reset();
        let trial = trial();
        let file =
            trial.place().write("x.yaml", text.replace("TARGET", target.url("").trim_end_matches('/')));
        let outcome = trial.load(&file, words.split_whitespace()).run();
        trial.try_check(&outcome, target, exit)
    })
}

/// Checks a file that cannot run: one message with all `mentions`, exit 2, no archive, and nothing
/// sent.
#[track_caller]
fn refused(text: &str, words: &str, mentions: &[&str]) -> Outcome {
    let (target, trial) = (target(), trial());
    let file = trial.place().write("x.yaml", text.replace("TARGET", target.url("").trim_end_matches('/')));
    let outcome = trial.program().args(["run", &file]).args(words.split_whitespace()).run();
    outcome.expect_exit(2);
    let errors = outcome.stderr.lines().filter(|line| line.starts_with("error")).count();
    assert!(errors == 1 && outcome.stderr.contains("hint: "), "one error with a hint: {outcome}");
    assert_eq!(outcome.stdout, "", "{outcome}");
    for mention in mentions {
        assert!(outcome.stderr.contains(mention), "`{mention}` is not mentioned: {outcome}");
    }
    assert!(trial.place().runs("runs").is_empty(), "{outcome}");
    assert_eq!(target.truth().connections, 0, "nothing is sent: {outcome}");
    let json = trial.load(&file, words.split_whitespace()).run();
    json.expect_exit(2);
    assert_eq!(json.json()["schema"], "wavetank.error/1", "{json}");
    outcome
}

const SEVERAL: &str = "\
wavetank: 1
name: several
target: TARGET
scenarios:
  reader: {weight: 3, steps: [{get: /}, {get: /b}]}
  writer:
    weight: 1
    steps:
      - {post: /w, name: write, json: {user: \"${user}\"}}
      - think: 5ms
      - get: \"/?who=${user}\"
  own:
    phases: [{users: 0 to 4, for: 500ms}, {users: 4, for: 500ms}]
    steps: [{get: /own}]
phases:
  - {name: warm, rate: 40/s, for: 500ms, warmup: true}
  - {name: first, rate: 80/s, for: 1s}
  - {name: rest, pause: 300ms}
  - {name: climb, rate: 0/s to 80/s, for: 1s}
";

#[test]
fn several_phases_and_scenarios_count_what_the_target_counts() {
    let target = target();
    let Some(result) = run(&target, SEVERAL, "", 0) else { return };
    // 20 sessions of two requests each in the warm-up, then 80 and, under the ramp, 40.
    assert_eq!(result.count("warmup.requests.offered"), 40, "{result}");
    let offered = |index: usize| {
        result.at("scenarios")[index]["requests"]["offered"].as_u64().expect("a count of each scenario")
    };
    assert_eq!(offered(0) + offered(1), 240, "{result}");
    assert!(offered(0) > 2 * offered(1) && offered(1) > 0, "three to one: {result}");
    assert!(offered(2) > 0, "{result}");
}

#[test]
fn a_file_needs_no_word_before_it() {
    let (target, trial) = (target(), trial());
    let text =
        "wavetank: 1\ntarget: TARGET\nsteps: [{get: /}]\nphases: [{users: 2, for: 1s, sessions: 10}]\n";
    let file = trial.place().write("x.yaml", text.replace("TARGET", target.url("").trim_end_matches('/')));
    let outcome = trial.program().args([&file, "--format", "json"]).run();
    let result = trial.check(&outcome, &target, 0);
    assert_eq!(result.count("requests.done"), 10, "{result}");
}

#[test]
fn rows_written_out_and_rows_of_a_file_reach_the_target() {
    let (target, trial) = (target(), trial());
    let text = "wavetank: 1\ntarget: TARGET\ndata:\n  here: {rows: [{a: 1}, {a: 2}]}\n  there: {file: there.csv}\n\
                steps: [{get: \"/${here.a}/${there.b}\"}]\nphases: [{users: 2, for: 5s, sessions: 20}]\n";
    let file = trial.place().write("x.yaml", text.replace("TARGET", target.url("").trim_end_matches('/')));
    trial.place().write("there.csv", "b\nx\ny\n");
    let outcome = trial.load(&file, [""; 0]).run();
    let result = trial.check(&outcome, &target, 0);
    assert_eq!(result.count("requests.done"), 20, "{result}");
}

#[test]
fn a_rehearsal_says_that_it_is_one() {
    let target = target();
    let text = "wavetank: 1\ntarget: TARGET\nsteps: [{get: /}]\nphases: [{rate: 1k/s, for: 10s}]\n\
                thresholds: [\"cpu(lb1) < 96%\", failed = 0]\n";
    let Some(result) = run(&target, text, "--scale 1/10 --speed 20x", 0) else { return };
    assert_eq!(result.count("requests.offered"), 50, "{result}");
    let notes = result.at("notes").to_string();
    assert!(notes.contains("rehearsal") && notes.contains("--scale 1/10 --speed 20x"), "{result}");
}

#[test]
fn what_cannot_be_run_is_reported_before_anything_is_sent() {
    let with = |more: &str| {
        format!("wavetank: 1\ntarget: TARGET\nsteps: [{{get: /}}]\nphases: [{{users: 2, for: 1s}}]\n{more}")
    };
    refused(&with("data: {a: {file: missing.csv}}\n"), "", &["missing.csv"]);
    refused(&with("events: [{when: 1s, host: lb1, run: reboot}]\n"), "", &["events", "lb1"]);
    refused(&with("thresholds: [\"cpu(lb1) < 96%\"]\n"), "", &["cpu(lb1)", "--scale"]);
    refused(&with("thresholds: [\"p99(by) < 1s\"]\n"), "", &["by"]);
    refused(&with("userz: 5\n"), "", &["userz", "x.yaml:5:"]);
    refused(&with(""), "--set absent=1", &["absent"]);
    refused("<?xml version=\"1.0\"?><jmeterTestPlan/>", "", &["JMeter"]);
}

#[test]
fn a_file_that_is_not_there_is_one_line() {
    for (words, mention) in
        [(["run", "no-such.yaml"], "no such file"), (["run", "http://192.0.2.1/x.yaml"], "not a loopback")]
    {
        let reported = trial().program().args(words).run();
        assert!(reported.exit == Some(2) || reported.exit == Some(5), "{reported}");
        assert!(reported.stderr.contains(mention) && reported.stderr.contains("hint: "), "{reported}");
    }
}
