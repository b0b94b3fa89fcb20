//! `wavetank calibrate`: the result is measured, confirmed by the target's count, stored, shown
//! again and used by `plan`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use wavetank_testkit::{Outcome, Program, RunHarness, Signal, Stamp};

const SECOND: Duration = Duration::from_secs(1);

/// The program, with its own state directory.
struct State {
    trial: RunHarness,
}

impl State {
    fn new() -> Self {
        Self { trial: RunHarness::new(env!("CARGO_BIN_EXE_wavetank")) }
    }

    fn program(&self, words: &str) -> Program {
        let folder = self.trial.place().path().join("state").display().to_string();
        self.trial.program().args(words.split_whitespace()).environment("XDG_STATE_HOME", &folder)
    }

    fn run(&self, words: &str, exit: i32) -> Outcome {
        let outcome = self.program(words).run();
        outcome.expect_exit(exit);
        outcome
    }

    fn file(&self) -> PathBuf {
        self.trial.place().path().join("state/wavetank/calibration.json")
    }

    /// Returns the calibration part of `plan` for a load of `rate`.
    fn standing(&self, rate: &str) -> Value {
        let path = self.trial.place().path().join("load.yaml");
        let text = format!(
            "wavetank: 1\nname: load\ntarget: http://127.0.0.1:8080\nsteps:\n  - get: /\nphases:\n  - {{rate: {rate}, for: 10s}}\n"
        );
        std::fs::write(&path, text).expect("written");
        let reported = self.run("plan load.yaml --format json", 0);
        let doc: Value = serde_json::from_str(&reported.stdout).expect("one object");
        doc["calibration"].clone()
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Checks the properties of a figure that hold on any machine.
#[track_caller]
fn check_figure(one: &Value, name: &str) {
    let figure = &one[name];
    let [least, measured, most] = ["least", "measured", "most"].map(|part| number(&figure[part]));
    assert!(0.0 < least && least <= measured && measured <= most, "{name}: {figure}");
    let rounds = figure["rounds"].as_array().expect("a list");
    assert!(rounds.len() == 3 && rounds.contains(&figure["measured"]), "{name}: {figure}");
    let alone = number(&one["host"]["cpus"]) * 1e6 / number(&figure["cpu_us_each"]);
    assert!((number(&figure["alone"]) / alone - 1.0).abs() < 1e-3, "{name}: {figure}");
}

#[test]
fn what_is_measured_is_counted_stored_shown_and_planned_with() {
    let state = State::new();
    let before = state.standing("1/s");
    assert_eq!(before["state"], "none", "{before}");
    assert!(before["why"].as_str().is_some_and(|why| why.contains("not calibrated")), "{before}");

    let outcome = state.run("calibrate --quick --format json", 0);
    let doc: Value = serde_json::from_str(&outcome.stdout).expect("one object");
    assert_eq!(doc["schema"], "wavetank.calibration/1");
    let one = &doc["calibrations"][0];
    for name in ["requests", "connections", "handshakes_full", "handshakes_resumed"] {
        check_figure(one, name);
    }
    assert_eq!(one["counted"]["sent"], one["counted"]["target"], "{outcome}");
    assert!(number(&one["counted"]["sent"]) > 1_000.0, "{outcome}");
    let shares: Vec<f64> =
        one["lag"].as_array().expect("a list").iter().map(|lag| number(&lag["share"])).collect();
    assert_eq!(shares, [0.5, 0.8, 0.95]);
    let memory = &one["memory"];
    if memory.is_null() {
        // The machine was too busy to hold the connections in time.
        let reported = one["notes"].as_array().expect("a list").iter().filter_map(Value::as_str);
        assert!(
            reported.into_iter().any(|note| note.contains("memory per connection was not measured")),
            "{outcome}"
        );
    } else {
        let bytes = number(&memory["user_bytes"]);
        assert!(20.0 < bytes && bytes < 20_000.0, "{memory}");
    }
    assert!(!state.trial.place().path().join("runs").exists(), "no archive of its runs");

    let shown = state.run("calibrate --show --format json", 0);
    assert_eq!(shown.stdout, outcome.stdout, "the stored result is the printed one");
    let text = state.run("calibrate --show", 0).stdout;
    assert!(text.starts_with("CALIBRATED") && text.contains("TLS, full"), "{text}");

    // A load on a schedule is compared with the calibration on a schedule.
    let able = number(&one["requests"]["measured"]).min(number(&one["open_per_s"]));
    let little = state.standing("1/s");
    assert_eq!((&little["state"], &little["basis"]), (&"fresh".into(), &"measured".into()), "{little}");
    assert!((number(&little["able"]["requests"]) / able - 1.0).abs() < 1e-6, "{little}");
    assert!(number(&little["share"]) < 0.1 && little["hint"] == "", "{little}");
    let much = state.standing("500M/s");
    assert!(number(&much["share"]) > 10.0, "{much}");
    assert!(much["hint"].as_str().is_some_and(|hint| hint.contains("load hosts like this one")), "{much}");
    let reported = state.run("plan load.yaml", 0).stdout;
    assert!(reported.contains("times what this host was calibrated at"), "{reported}");
}

#[test]
fn an_interrupted_one_leaves_nothing() {
    let state = State::new();
    let began = Stamp::now();
    let running = state.program("calibrate --duration 60s").start();
    // Its folder exists from the first access to the file, before the first run starts with its own
    // server.
    let folder = state.file().parent().expect("in a folder").to_owned();
    while !folder.exists() {
        assert!(Stamp::now().since(began) < 60 * SECOND, "it never started");
        std::thread::yield_now();
    }
    assert!(!running.ends_within(SECOND), "it runs for a minute");
    running.signal(Signal::INT);
    let outcome = running.wait(60 * SECOND);
    outcome.expect_exit(130);
    assert!(outcome.stderr.contains("nothing is stored"), "{outcome}");
    assert!(left(&folder).is_empty(), "{:?}", left(&folder));
}

fn left(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect()
}

#[test]
fn what_is_stored_and_cannot_be_read_is_reported() {
    let state = State::new();
    let missing = state.run("calibrate --show", 2);
    assert!(missing.stderr.starts_with("error: this host is not calibrated"), "{missing}");
    std::fs::create_dir_all(state.file().parent().expect("in a folder")).expect("made");
    std::fs::write(state.file(), "{\"schema\":").expect("written");
    let damaged = state.run("calibrate --show", 2);
    assert!(
        damaged.stderr.contains("holds no calibrations") && damaged.stderr.contains("hint: "),
        "{damaged}"
    );
    let standing = state.standing("1/s");
    assert_eq!(standing["state"], "damaged", "{standing}");
    let reported = state.run("plan load.yaml", 0).stdout;
    assert!(reported.contains("calibrated unknown: "), "{reported}");
}

#[test]
fn senseless_words_are_reported_immediately() {
    let check = |words: &str, exit: i32, code: &str| {
        let outcome = State::new().run(&format!("calibrate {words} --format json"), exit);
        let error: Value = serde_json::from_str(&outcome.stdout).expect("one object");
        assert_eq!(error["code"], code, "{outcome}");
        assert!(error["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "{outcome}");
    };
    check("--duration 1s", 2, "bad_duration");
    check("--duration 30", 2, "unit_missing");
    check("--quick --duration 20s", 2, "conflict");
    check("--show --quick", 2, "conflict");
    check("--show --engine epoll", 2, "conflict");
    check("--engine fast", 2, "value_unknown");
    check("--target https://127.0.0.1:1/", 2, "target_tls");
    check("--allow-target 10.0.0.0/8", 2, "conflict");
    check("--target http://203.0.113.9/", 5, "target_not_allowed");
    check("--target http://127.0.0.1:1/ --quick", 1, "no_answer");
    check("--out /proc/nothing/calibration.json", 2, "calibration_unwritable");
}
