//! A URL on the command line, and the file that says the same: one plan. Templates of a URL are
//! expanded.

use std::time::Duration;

use wavetank_testkit::{RunHarness, Script, Target};

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

fn target() -> Target {
    Target::start(Script::constant(Duration::ZERO))
}

#[test]
fn a_url_and_the_file_that_says_the_same_have_one_plan_hash() {
    for (options, lines) in [
        ("-c 2 -d 200ms", "steps: [get: /]\nphases: [{users: 2, for: 200ms}]"),
        ("-r 50/s -d 200ms", "steps: [get: /]\nphases: [{rate: 50/s, for: 200ms}]"),
        ("-r 50/s -d 200ms -c 3", "connections: 3\nsteps: [get: /]\nphases: [{rate: 50/s, for: 200ms}]"),
        (
            "--stage 200ms:50/s --stage 100ms:50/s",
            "steps: [get: /]\nphases:\n  - {name: stage-1, rate: 0/s to 50/s, for: 200ms}\n  \
             - {name: stage-2, rate: 50/s, for: 100ms}",
        ),
        (
            "-c 1 -d 100ms --basic ann:pw",
            "http: {auth: \"basic ann:pw\"}\nsteps: [get: /]\nphases: [{users: 1, for: 100ms}]",
        ),
        (
            "-c 1 -d 100ms --form a=${seq()} -H X-Id:${uuid()}",
            "http: {headers: {X-Id: \"${uuid()}\"}}\nsteps:\n  - post: /\n    form: {a: \"${seq()}\"}\n\
             phases: [{users: 1, for: 100ms}]",
        ),
    ] {
        let (target, trial) = (target(), trial());
        let url = target.url("/");
        let file = format!("wavetank: 1\ntarget: {}\n{lines}\n", url.trim_end_matches('/'));
        let file = trial.place().write("x.yaml", file);
        let hash = |goal: &str, words: &str| {
            let outcome = trial.load(goal, words.split_whitespace()).run();
            // A machine that is busy with other tests may make a run invalid.
            assert!(matches!(outcome.exit, Some(0 | 3)), "{options}: {outcome}");
            outcome.result().text("plan_hash").to_owned()
        };
        assert_eq!(hash(&url, options), hash(&file, ""), "{options}\n{lines}");
    }
}

#[test]
fn a_field_that_differs_is_not_probed() {
    let (target, trial) = (target(), trial());
    for words in ["-H X-Id:${uuid()} -n 5 -c 1", "--stage 100ms:50/s --basic ann:pw"] {
        let outcome = trial.load(&target.url("/"), words.split_whitespace()).run();
        assert!(matches!(outcome.exit, Some(0 | 3)), "{words}: {outcome}");
    }
}

#[test]
fn once_shows_the_expanded_request() {
    let (target, trial) = (target(), trial());
    let rows = trial.place().write("rows.csv", "name\nan\"n\n");
    let json = r#"{"id":"${uuid()}","name":"${rows.name}"}"#;
    let words = ["run", &target.url("/item/${random(7,7)}"), "--json", json, "--rows", &rows, "--once"];
    let shown = trial.program().args(words).run();
    shown.expect_exit(0);
    assert!(shown.stdout.contains("POST /item/7 HTTP/1.1"), "{shown}");
    assert!(shown.stdout.contains(r#""name":"an\"n""#), "{shown}");
    assert!(!shown.stdout.contains("\"${"), "nothing is sent literally: {shown}");
}

#[test]
fn the_environment_names_the_runs_directory_and_one_line_is_enough() {
    let (target, trial) = (target(), trial());
    let words = ["run", &target.url("/"), "-n", "5", "-c", "1", "--format", "oneline"];
    let outcome = trial.program().args(words).environment("WAVETANK_RUNS", "elsewhere").run();
    assert!(matches!(outcome.exit, Some(0 | 3)), "{outcome}");
    assert_eq!(trial.place().runs("elsewhere").len(), 1, "{outcome}");
    assert!(trial.place().runs("runs").is_empty(), "{outcome}");
    assert_eq!(outcome.stdout.lines().count(), 1, "{outcome}");
    for part in ["req/s", "p50 ", "p99 ", "failed 0 of 5", "limit"] {
        assert!(outcome.stdout.contains(part), "{part}: {outcome}");
    }
}
