//! Experiment files on the command line: they are created, checked and described, and errors show
//! their position.

use wavetank_testkit::{Outcome, Program, TestDir};

/// The shipped examples.
const EXAMPLES: [&str; 7] = [
    "flash-sale",
    "haproxy-7m",
    "lb-million",
    "lb-million-by-rate",
    "nginx-million",
    "shapes",
    "tsung-static",
];

fn wavetank(words: &[&str]) -> Outcome {
    Program::new(env!("CARGO_BIN_EXE_wavetank")).args(words).run()
}

fn example(name: &str) -> String {
    format!("{}/../../examples/{name}.yaml", env!("CARGO_MANIFEST_DIR"))
}

/// Runs `check` on a file with this text. It must exit with 2, and the message must contain
/// `mentions`, as text and as JSON.
#[track_caller]
fn refused(text: &str, words: &[&str], mentions: &[&str]) {
    let place = TestDir::new();
    let file = place.write("x.yaml", text);
    let words: Vec<&str> = ["check", &file].into_iter().chain(words.iter().copied()).collect();
    let reported = wavetank(&words);
    reported.expect_exit(2);
    assert_eq!(reported.stdout, "", "stdout is for results: {reported}");
    for mention in mentions {
        assert!(reported.stderr.contains(mention), "`{mention}` is not mentioned: {reported}");
    }
    assert!(reported.stderr.contains("hint: "), "{reported}");
    let words: Vec<&str> = words.into_iter().chain(["--format", "json"]).collect();
    let reported = wavetank(&words);
    reported.expect_exit(2);
    let json = reported.json();
    assert_eq!(
        (json["schema"].as_str(), json["exit"].as_u64()),
        (Some("wavetank.error/1"), Some(2)),
        "{reported}"
    );
}

/// A load that no host could run is a mistake of the file, which is known without a run.
#[test]
fn a_file_of_too_many_series_is_reported_before_it_runs() {
    let text = |phases: usize, steps: usize| {
        let steps: Vec<_> = (0..steps).map(|number| format!("{{get: /{number}}}")).collect();
        let phases: Vec<_> =
            (0..phases).map(|number| format!("  - {{name: p{number}, rate: 1/s, for: 1s}}\n")).collect();
        let phases = phases.concat();
        format!(
            "wavetank: 1\ntarget: http://127.0.0.1:8080\nsteps: [{}]\nphases:\n{phases}",
            steps.join(", ")
        )
    };
    refused(&text(63, 66), &[], &["4,158 series", "63 phases, 66 steps"]);
    let place = TestDir::new();
    wavetank(&["check", &place.write("x.yaml", text(64, 64))]).expect_exit(0);
}

#[test]
fn every_example_passes() {
    for name in EXAMPLES {
        let file = example(name);
        let reported = wavetank(&["check", &file]);
        reported.expect_exit(0);
        assert!(reported.stdout.starts_with(&file) && reported.stdout.contains(name), "{reported}");
        assert_eq!(reported.stdout.lines().count(), 1, "{reported}");
        let json = wavetank(&["check", &file, "--format", "json", "--scale", "1/1000", "--speed", "20x"]);
        json.expect_exit(0);
        assert_eq!(json.json()["schema"], "wavetank.check/1", "{json}");
        assert_eq!(json.json()["name"], name, "{json}");
    }
}

#[test]
fn every_example_is_planned() {
    for name in EXAMPLES {
        let file = example(name);
        let reported = wavetank(&["plan", &file]);
        reported.expect_exit(0);
        assert!(reported.stdout.starts_with(name) && reported.stdout.contains("constants "), "{reported}");
        assert!(reported.stdout.lines().all(|line| line.chars().count() <= 100), "{reported}");
        let small = wavetank(&["plan", &file, "--format", "json", "--scale", "1/1000", "--speed", "20x"]);
        small.expect_exit(0);
        let json = small.json();
        assert_eq!(
            (json["schema"].as_str(), json["name"].as_str()),
            (Some("wavetank.plan/1"), Some(name)),
            "{small}"
        );
    }
    let reported = wavetank(&["plan", &example("tsung-static")]);
    let words: Vec<&str> = reported.stdout.split_whitespace().collect();
    let words = words.join(" ");
    for promised in [
        "15,000 sessions expected (4,800 + 4,800 + 5,400; Poisson): the limits 15,000, 15,000, 20,000 are not reached.",
        "A session is 10,000,000 requests without think time: this is a closed loop of up to 15,000 users.",
        "Ends at 50m00s; open sessions are cut off.",
    ] {
        assert!(words.contains(promised), "{promised}: {reported}");
    }
    wavetank(&["plan", "/no/such.yaml"]).expect_exit(2);
}

#[test]
fn a_new_file_is_one_that_passes_and_is_never_written_over() {
    let place = TestDir::new();
    let file = place.file("first.yaml");
    let made = wavetank(&["new", &file]);
    made.expect_exit(0);
    assert!(made.stdout.contains("wavetank check"), "{made}");
    wavetank(&["check", &file]).expect_exit(0);
    place.write("first.yaml", "mine");
    let again = wavetank(&["new", &file]);
    again.expect_exit(2);
    assert!(again.stderr.contains("already exists") && again.stderr.contains("hint: "), "{again}");
    assert_eq!(std::fs::read_to_string(&file).expect("it is still there"), "mine");
    wavetank(&["new", "/no/such/folder/first.yaml"]).expect_exit(2);
}

#[test]
fn the_schema_is_json_that_names_the_grammar() {
    let reported = wavetank(&["schema"]);
    reported.expect_exit(0);
    let schema = reported.json();
    assert!(schema["$schema"].is_string() && schema["properties"]["phases"].is_object(), "{reported}");
}

#[test]
fn mistakes_are_reported_with_their_places() {
    let file = |phases: &str| {
        format!(
            "wavetank: 1\nname: x\ntarget: http://127.0.0.1:1\nsteps:\n  - get: /\nphases:\n  - {phases}\n"
        )
    };
    refused(&file("{users: 5, for: 30}"), &[], &["x.yaml:7:", "unit", "30s"]);
    refused(&file("{userz: 5, for: 30s}"), &[], &["userz", "users"]);
    refused(&file("{users: 5, for: 0s}"), &[], &["x.yaml:7:"]);
    refused(&file("{users: 5, for: 3s}"), &["--set", "absent=1"], &["--set absent"]);
    refused("", &[], &["x.yaml"]);
    refused("<?xml version=\"1.0\"?><jmeterTestPlan/>", &[], &["JMeter"]);
    let two = file("{users: 5, for: 30}\n  - {rate: 5, for: 1s}");
    refused(&two, &[], &["2 errors"]);
}

#[test]
fn options_that_do_not_fit_are_one_line() {
    let file = example("nginx-million");
    for words in [
        &["check"][..],
        &["check", "/no/such.yaml"],
        &["check", "/"],
        &["check", &file, "--scale", "0"],
        &["check", &file, "--speed", "fast"],
        &["check", &file, "--set", "nothing"],
        &["check", &file, "--secret", "KEY=words"],
        &["check", &file, "--target", "other=http://127.0.0.1/"],
        &["check", &file, "--format", "junit"],
        &["check", &file, "surplus"],
        &["schema", "surplus"],
        &["new"],
    ] {
        let reported = wavetank(words);
        reported.expect_exit(2);
        let lines = |prefix: &str| reported.stderr.lines().filter(|line| line.starts_with(prefix)).count();
        assert_eq!((lines("error: "), lines("hint: ")), (1, 1), "{words:?}: {reported}");
        assert_eq!(reported.stdout, "", "{words:?}: {reported}");
    }
}

#[test]
fn rows_are_looked_at() {
    let place = TestDir::new();
    let text = "wavetank: 1\ntarget: http://127.0.0.1:1\ndata:\n  accounts: {file: accounts.csv, row: unique}\n\
                steps:\n  - get: \"/${accounts.user}\"\nphases:\n  - {rate: 10/s, for: 1s}\n";
    let file = place.write("x.yaml", text);
    let missing = wavetank(&["check", &file]);
    missing.expect_exit(0);
    assert!(missing.stderr.contains("accounts.csv does not exist"), "{missing}");
    place.write("accounts.csv", "user;password\na;b\n");
    let separated = wavetank(&["check", &file]);
    separated.expect_exit(2);
    assert!(separated.stderr.contains("set separator: \";\""), "{separated}");
    place.write("accounts.csv", "user\nann\nbob\n");
    let few = wavetank(&["check", &file]);
    few.expect_exit(2);
    assert!(few.stderr.contains("accounts.csv has 2 rows, the plan needs 10"), "{few}");
    wavetank(&["check", &file, "--scale", "1/5"]).expect_exit(0);
}

#[test]
fn secrets_come_from_files_or_the_environment() {
    let place = TestDir::new();
    let text = "wavetank: 1\ntarget: http://127.0.0.1:1\nsteps:\n  - get: /\n    headers: {x-key: \"${secret:KEY}\"}\n\
                phases:\n  - {users: 1, for: 1s}\n";
    let file = place.write("x.yaml", text);
    wavetank(&["check", &file]).expect_exit(2);
    let key = format!("KEY=@{}", place.write("key", "planted\n"));
    wavetank(&["check", &file, "--secret", &key]).expect_exit(0);
    let program = Program::new(env!("CARGO_BIN_EXE_wavetank")).environment("WAVETANK_SECRET_KEY", "planted");
    let reported = program.args(["check", &file, "--format", "json"]).run();
    reported.expect_exit(0);
    assert!(!reported.stdout.contains("planted") && !reported.stderr.contains("planted"), "{reported}");
}

/// `plan` shows the effect of the same arguments in `run`, and rejects the same ones. So does
/// `check`.
#[test]
fn options_next_to_the_file_are_those_of_run() {
    let place = TestDir::new();
    let bare = place.write("bare.yaml", "wavetank: 1\ntarget: http://127.0.0.1:1/\nsteps: [{get: /}]\n");
    let words = ["plan", &bare, "--format", "json", "-c", "7", "-d", "3s", "--timeout", "7s", "--seed", "9"];
    let reported =
        wavetank(&[&words[..], &["--engine", "epoll", "--threads", "1", "--name", "own"]].concat());
    reported.expect_exit(0);
    let json = reported.json();
    let phase = &json["phases"][0];
    assert_eq!((phase["level_max"].as_u64(), phase["end_s"].as_f64()), (Some(7), Some(3.0)), "{reported}");
    assert_eq!((json["seed"].as_u64(), json["name"].as_str()), (Some(9), Some("own")), "{reported}");
    assert!(json["settings"].to_string().contains("7s"), "{reported}");

    let shaped = example("shapes");
    for command in ["check", "plan"] {
        let refused = wavetank(&[command, &shaped, "-c", "5"]);
        refused.expect_exit(2);
        assert!(refused.stderr.contains("--scale"), "{refused}");
        let wrong = wavetank(&[command, &shaped, "--threshold", "p99(by) < 1s"]);
        wrong.expect_exit(2);
        assert!(wrong.stderr.contains("no step"), "{wrong}");
        wavetank(&[command, &shaped, "--timeout", "soon"]).expect_exit(2);
    }

    let many = place.write(
        "many.yaml",
        "wavetank: 1\ntarget: http://127.0.0.1:1/\nsteps: [{get: /}]\nphases: [{hold: 0 to 90k, at: 10k/s}]\n",
    );
    let reported = wavetank(&["plan", &many, "--format", "json"]);
    reported.expect_exit(0);
    let lacking = reported.json()["lacking"].to_string();
    assert!(!lacking.contains("--source"), "a file has a key for that: {reported}");
    if lacking.contains("no_source_address") {
        assert!(lacking.contains("sources: auto"), "{reported}");
    }
    let found = wavetank(&["plan", &many, "--format", "json", "--source", "127.0.0.1-20"]);
    found.expect_exit(0);
    assert!(!found.json()["lacking"].to_string().contains("no_source_address"), "{found}");
}

/// A trace is part of the experiment: without it, there is no load.
#[test]
fn a_trace_is_checked_and_its_axis_fits_its_rate() {
    let place = TestDir::new();
    let file = place.write(
        "x.yaml",
        "wavetank: 1\ntarget: http://127.0.0.1:1\nsteps: [get: /]\nphases: [{trace: t.csv}]\n",
    );
    let check = |mention: &str| {
        let reported = wavetank(&["check", &file]);
        assert!(reported.expect_exit(2).stderr.contains(mention), "{reported}");
    };
    check("t.csv: there is no such file");
    place.write("t.csv", "abc\n");
    check("t.csv:1: ");
    place.write("t.csv", "0s,5/s\n");
    check("a trace with rates needs a length");
    place.write("t.csv", "0s\n1s\n1s\n1s\n2s\n");
    wavetank(&["check", &file]).expect_exit(0);
    let plan = wavetank(&["plan", &file]);
    let plan = &plan.expect_exit(0).stdout;
    let top = plan.lines().find_map(|line| line.split_once('│')).expect("an axis").0;
    assert_eq!(top.trim(), "3/s", "{plan}");
}
