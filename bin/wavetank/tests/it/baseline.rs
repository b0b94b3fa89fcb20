//! `run … --baseline` that cannot compare: the error comes before anything is sent, or in addition
//! to the run's result and never instead of it.

use std::time::Duration;

use serde_json::Value;
use wavetank_testkit::{Outcome, RunHarness, Script, Target};

/// A closed loop. It waits for its target, so a busy machine makes its runs slow but not INVALID.
const CLOSED: [&str; 5] = ["-c", "2", "-n", "200", "--no-probe"];

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

fn target() -> Target {
    Target::start(Script::constant(Duration::from_millis(2)))
}

/// Runs such a load and returns the id of the run.
fn stored(trial: &RunHarness, target: &Target, words: &[&str]) -> String {
    trial.load(&target.url("/"), words).run().json()["id"].as_str().expect("an id").to_owned()
}

/// Returns the only document on stdout. The file must contain the same.
#[track_caller]
fn alone(outcome: &Outcome, file: &str) -> Value {
    let written = std::fs::read_to_string(file).expect("it is there");
    assert_eq!(written, outcome.stdout, "{outcome}");
    outcome.json()
}

#[test]
fn what_cannot_be_compared_is_reported_before_anything_is_sent() {
    let (trial, target) = (trial(), target());
    let closed = stored(&trial, &target, &CLOSED);
    let open = stored(&trial, &target, &["-r", "50/s", "-d", "200ms", "--no-probe"]);
    target.reset();
    let file = trial.place().write("result.json", "{}");
    let check = |words: &[&str], code: &str, mentions: &str| {
        let run = trial.load(&target.url("/"), words).args(["--no-probe", "--out", &file]).run();
        run.expect_exit(2);
        let doc = alone(&run, &file);
        assert_eq!((&doc["schema"], &doc["code"]), (&"wavetank.error/1".into(), &code.into()), "{run}");
        assert!(doc["message"].as_str().is_some_and(|said| said.contains(mentions)), "{run}");
        assert_eq!(target.settled().requests, 0, "nothing was sent: {run}");
    };
    check(&["-n", "9", "--baseline", &format!("{closed},{closed}")], "same_run", &closed);
    check(&["-n", "9", "--baseline", &closed, "--baseline", &closed], "same_run", &closed);
    check(&["-c", "5", "-n", "9", "--baseline", &open], "different_kinds", "this one is a closed loop");
    check(&["-r", "9/s", "-n", "9", "--baseline", &closed], "different_kinds", "this one is an open loop");
    check(&["-n", "9", "--baseline", &format!("{closed},{open}")], "different_kinds", &open);
    check(&["-n", "9", "--baseline", &closed, "--metric", "p99(nope)"], "metric_unknown", "p99(nope)");
    let plan = "wavetank: 1\ntarget: URL\nsteps: [{get: /}]\nphases: [{name: all, users: 1, for: 1s}]\n";
    let plan = trial.place().write("plan.yaml", plan.replace("URL", &target.url("/")));
    let run = trial.program().args(["run", &plan, "--baseline", &open, "--format", "junit"]).run();
    assert_eq!(run.expect_exit(2).stdout.matches("<?xml").count(), 1, "{run}");
    assert!(run.stdout.contains("different_kinds"), "{run}");
    assert_eq!(target.settled().requests, 0, "nothing was sent: {run}");
}

/// The comparison needs the archive of the run, which cannot be written.
#[test]
fn a_run_that_cannot_be_compared_after_all_keeps_its_result() {
    let (trial, target) = (trial(), target());
    stored(&trial, &target, &CLOSED);
    let baseline = trial.place().runs("runs").remove(0).display().to_string();
    let nowhere = trial.place().write("nowhere", "");
    let file = trial.place().write("result.json", "{}");
    let check = |words: &[&str], exit: i32| {
        let around = ["--baseline", &baseline, "--runs-dir", &nowhere, "--out", &file];
        let run = trial.load(&target.url("/"), CLOSED).args(around).args(words).run();
        run.expect_exit(exit);
        let doc = alone(&run, &file);
        assert_eq!(
            (&doc["schema"], &doc["verdict"]["status"]),
            (&"wavetank.run/1".into(), &"pass".into()),
            "{run}"
        );
        assert!(run.stderr.contains("warning: not compared: ") && run.stderr.contains("hint: "), "{run}");
    };
    check(&[], 0);
    // With a limit, a missing comparison must not look like a pass.
    check(&["--max-regression", "10%"], 4);
}

/// A gate on failures must pass if nothing failed, for any number of runs.
#[test]
fn none_failed_before_and_none_now_is_no_regression() {
    let (trial, target) = (trial(), target());
    let ids = [0, 1].map(|_| stored(&trial, &target, &CLOSED));
    for baseline in [ids[0].clone(), ids.join(",")] {
        let asked = ["--metric", "failed", "--metric", "lost", "--max-regression", "10%"];
        let run = trial.load(&target.url("/"), CLOSED).args(["--baseline", &baseline]).args(asked).run();
        run.expect_exit(0);
        let comparison = &run.json()["comparison"];
        assert_eq!(comparison["answer"], "no_regression", "{run}");
        let judged = comparison["metrics"].as_array().expect("values").iter();
        let judged: Vec<_> = judged.filter(|metric| metric["judged"] == true).collect();
        assert_eq!(judged.len(), 2, "{run}");
        for metric in judged {
            assert_eq!((metric["a"].as_f64(), metric["b"].as_f64()), (Some(0.0), Some(0.0)), "{run}");
            assert_eq!(
                (&metric["verdict"], &metric["ratio"]),
                (&"no_difference".into(), &Value::Null),
                "{run}"
            );
        }
    }
}

#[test]
fn unwritable_parts_are_reported_next_to_stdout() {
    let (trial, target) = (trial(), target());
    let full = trial.place().file("full.json");
    std::os::unix::fs::symlink("/dev/full", &full).expect("the folder is writable");
    let run = trial.load(&target.url("/"), CLOSED).args(["--out", &full]).run();
    assert_eq!(run.json()["schema"], "wavetank.run/1", "{run}");
    assert!(run.stderr.contains("cannot write the result to") && run.stderr.contains("hint: "), "{run}");
}
