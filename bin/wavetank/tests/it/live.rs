//! Running runs, as other processes of the same user see and change them.

use std::fs;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use serde_json::Value;
use wavetank_testkit::{Outcome, Program, RunHarness, Running, Script, Target, TestDir, poll_until};

use crate::fleet_hosts::with_hosts;

/// No wait of a test is as long on a machine that works.
const LIMIT: Duration = Duration::from_mins(2);

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

fn target() -> Target {
    Target::start(Script::constant(Duration::ZERO))
}

/// The program with the runtime folder of this test alone.
fn own(program: Program, place: &TestDir) -> Program {
    program.environment("XDG_RUNTIME_DIR", &place.path().to_string_lossy())
}

fn call(place: &TestDir, words: &[&str]) -> Outcome {
    own(Program::new(env!("CARGO_BIN_EXE_wavetank")), place).in_folder(place.path()).args(words).run()
}

/// Waits until `found` accepts the state of the only running run.
#[track_caller]
fn state(place: &TestDir, running: Option<&Running>, found: impl Fn(&Value) -> bool) -> Value {
    let state = poll_until(LIMIT, || {
        if let Some(running) = running {
            assert!(!running.ends_within(Duration::ZERO), "it runs: {}", running.stderr());
        }
        let status = call(place, &["status", "--format", "json"]);
        let line = status.expect_exit(0).stdout.lines().next().map(str::to_owned)?;
        let state: Value = serde_json::from_str(&line).expect("an object in each line");
        found(&state).then_some(state)
    });
    state.expect("the run gets there")
}

fn is_running(state: &Value) -> bool {
    state["state"] == "running" && state["requests"]["done"].as_u64() > Some(0)
}

#[test]
fn a_rate_is_changed_while_it_runs() {
    let (trial, target) = (trial(), target());
    let place = trial.place();
    let load = trial.load(&target.url("/"), ["-r", "100/s", "-d", "60s", "--name", "shop"]);
    let running = own(load, place).start();
    let before = state(place, Some(&running), is_running);
    assert_eq!((&before["name"], &before["modified"]), (&"shop".into(), &false.into()));
    assert_eq!(before["phases"][0]["rate_per_s"], 100, "{before}");
    let changed = call(place, &["set", "rate=300/s"]);
    assert!(
        changed.expect_exit(0).stdout.contains("load of phase main changed to 300 req/s, from "),
        "{changed}"
    );
    let marked = call(place, &["event", "deploy 4711"]);
    assert!(marked.expect_exit(0).stdout.contains("marked at "), "{marked}");
    let after = state(place, Some(&running), |state| state["latest"]["offered_per_s"].as_f64() > Some(290.0));
    assert_eq!((&after["modified"], &after["phases"][0]["rate_per_s"]), (&true.into(), &300.into()));
    let refused = call(place, &["set", "shop", "users=4"]);
    refused.expect_exit(2);
    assert!(refused.stderr.contains("no phase with users is active; active: main"), "{refused}");
    // A client that only connects, or sends anything else, changes nothing.
    let id = after["id"].as_str().expect("an id");
    let socket = place.path().join(format!("wavetank/{id}.sock"));
    drop(UnixStream::connect(&socket).expect("it listens"));
    let stopped = call(place, &["stop", &id[..4]]);
    assert!(stopped.expect_exit(0).stdout.contains("stopping"), "{stopped}");
    let outcome = running.wait(LIMIT);
    let result = outcome.result();
    assert!(matches!(outcome.exit, Some(3 | 4)), "{outcome}");
    result.conserved().agrees_with(&target.settled());
    assert_eq!(result.value()["modified"], true, "{result}");
    let change = &result.value()["changes"][0];
    assert_eq!(change["load"]["rate"]["count"], 300, "{result}");
    // Offered follows the change to the arrival: 100/s before it, 300/s after it.
    let at = change["at_s"].as_f64().expect("an instant");
    let ended = result.value()["duration_s"].as_f64().expect("a length");
    let expected = at * 100.0 + (ended - at) * 300.0;
    let offered = result.count("requests.offered") as f64;
    // Load threads stop at an agreed instant shortly after the end that is recorded.
    assert!((-2.0..300.0).contains(&(offered - expected)), "{offered}, not {expected}: {result}");
    let csv = call(place, &["report", "latest", "--format", "csv"]).expect_exit(0).stdout.clone();
    let rows = csv.lines().skip(1).map(|row| row.split(',').collect::<Vec<_>>());
    for row in rows.filter(|row| row[3] == "measured" && row[2] == "1") {
        let from: f64 = row[1].parse().expect("a number");
        assert_eq!(row[4], if from < at { "100" } else { "300" }, "the plan follows: {row:?}");
    }
    let report = call(place, &["report", "latest"]).expect_exit(0).stdout.clone();
    assert!(report.contains("load of phase main changed to 300 req/s (at "), "{report}");
    assert!(call(place, &["status"]).stdout.contains("no run of this user is running"));
    assert!(!socket.exists(), "the socket is removed");
}

#[test]
fn users_leave_and_return() {
    let (trial, target) = (trial(), Target::start(Script::constant(Duration::from_millis(5))));
    let place = trial.place();
    let running = own(trial.load(&target.url("/"), ["-c", "8", "-d", "60s"]), place).start();
    state(place, Some(&running), is_running);
    for (users, words) in [(3, "users=3"), (8, "users=8"), (1, "users=1")] {
        call(place, &["set", words]).expect_exit(0);
        state(place, Some(&running), |state| state["latest"]["users"] == users);
    }
    let refused = call(place, &["set", "users=9"]);
    refused.expect_exit(2);
    assert!(
        refused.stderr.contains("planned for at most 8 users") && refused.stderr.contains("users=8"),
        "{refused}"
    );
    call(place, &["stop", "--now"]).expect_exit(0);
    let outcome = running.wait(LIMIT);
    let result = outcome.result();
    result.conserved().agrees_with(&target.settled());
    let reasons = &result.value()["verdict"]["reasons"];
    assert!(reasons.to_string().contains("stopped") || outcome.exit == Some(3), "{outcome}");
}

#[test]
fn a_run_of_a_fleet_in_the_background_is_controlled() {
    with_hosts("a_run_of_a_fleet_in_the_background_is_controlled", 2, |hosts| {
        let target = crate::fleet_hosts::target(Script::constant(Duration::ZERO));
        let words = ["-r", "100/s", "-d", "60s", "--name", "crew", "--detach"];
        let started = own(hosts.run(&target.url("/"), words), &hosts.place).run();
        assert!(started.expect_exit(0).stdout.contains("goes on in the background"), "{started}");
        state(&hosts.place, None, is_running);
        let words = ["attach", "crew", "--format", "json"];
        let attached = own(hosts.program(), &hosts.place).args(words).start();
        let marked = call(&hosts.place, &["event", "deploy 4711"]);
        assert!(marked.expect_exit(0).stdout.contains("crew: marked at "), "{marked}");
        call(&hosts.place, &["set", "crew", "rate=300/s"]).expect_exit(0);
        state(&hosts.place, None, |state| state["latest"]["offered_per_s"] == 300);
        call(&hosts.place, &["stop", "crew"]).expect_exit(0);
        let attached = attached.wait(LIMIT);
        assert!(matches!(attached.exit, Some(3 | 4)), "{attached}");
        let last = attached.stdout.lines().last().expect("it has states");
        let last: Value = serde_json::from_str(last).expect("a state");
        assert_eq!(
            (&last["state"], last["verdict"]["exit"].as_i64()),
            (&"over".into(), attached.exit.map(i64::from))
        );
        let report = call(&hosts.place, &["report", "latest", "--format", "json"]);
        let result = report.expect_exit(0).result();
        result.conserved();
        assert_eq!(result.count("wire.sent"), target.settled().requests, "{result}");
        let events = result.at("events").as_array().expect("a list");
        let marks: Vec<_> = events.iter().filter(|event| event["kind"] == "marked").collect();
        assert!(matches!(marks[..], [mark] if mark["text"] == "deploy 4711"), "{result}");
        assert_eq!(result.value()["changes"][0]["load"]["rate"]["count"], 300, "{result}");
    });
}

#[test]
fn a_run_in_the_background_is_attached_to() {
    let (place, target) = (TestDir::new(), target());
    let url = target.url("/");
    let started = call(&place, &["run", &url, "-r", "50/s", "-d", "3s", "--name", "back", "--detach"]);
    assert!(started.expect_exit(0).stdout.contains("goes on in the background"), "{started}");
    let attached = call(&place, &["attach"]);
    assert!(matches!(attached.exit, Some(0 | 3)), "{attached}");
    assert!(attached.stdout.contains("failed 0 of 150"), "{attached}");
    assert_eq!(place.runs("runs").len(), 1);
    // What ends before its load is reported as without --detach.
    let refused = call(&place, &["run", "http://127.0.0.1:1/", "--detach"]);
    refused.expect_exit(1);
    assert!(refused.stdout.contains("no answer to the probe"), "{refused}");
    let refused = call(&place, &["run", &url, "--detach", "--no-archive"]);
    refused.expect_exit(2);
    assert!(refused.stderr.contains("--detach and --no-archive exclude each other"), "{refused}");
    for words in [["attach", "back"], ["stop", "back"], ["set", "rate=1/s"], ["event", "x"]] {
        let refused = call(&place, &words);
        refused.expect_exit(2);
        assert!(refused.stderr.contains("not_running"), "{refused}");
    }
}

#[test]
fn a_watcher_reads_every_state_and_the_verdict() {
    let (place, target) = (TestDir::new(), target());
    call(&place, &["run", &target.url("/"), "-r", "50/s", "-d", "4s", "--detach"]).expect_exit(0);
    let attached = call(&place, &["attach", "--format", "json"]);
    let states: Vec<Value> =
        attached.stdout.lines().map(|line| serde_json::from_str(line).expect("a state")).collect();
    assert!(states.len() >= 3, "{attached}");
    let at = |state: &Value| state["at_s"].as_f64().unwrap_or_default();
    let running: Vec<f64> = states.iter().filter(|state| state["state"] == "running").map(at).collect();
    assert!(running.is_sorted(), "{running:?}");
    let last = states.last().expect("it has states");
    let count = |name: &str| last["requests"][name].as_u64().unwrap_or_default();
    // A busy machine drops requests that it could not send in time.
    assert_eq!((&last["state"], count("done") + count("dropped")), (&"over".into(), 200), "{attached}");
    assert_eq!(last["verdict"]["exit"].as_i64(), attached.exit.map(i64::from), "{attached}");
}

#[test]
fn sockets_of_dead_runs_and_strange_ones_are_no_runs() {
    let place = TestDir::new();
    let folder = place.path().join("wavetank");
    fs::create_dir_all(&folder).expect("the test's own folder");
    drop(UnixListener::bind(folder.join("dead.sock")).expect("a socket"));
    fs::write(folder.join("file.sock"), "x").expect("a file");
    fs::write(folder.join("note.txt"), "x").expect("a file");
    let status = call(&place, &["status"]);
    assert!(status.expect_exit(0).stdout.contains("no run of this user is running"), "{status}");
    for (words, mention) in [
        (&["set"][..], "no load is given"),
        (&["event"], "no text is given"),
        (&["set", "fast"], "`fast` is not a load"),
        (&["set", "a", "b", "rate=1/s"], "rate=1/s"),
        (&["set", "rate=fast"], "`fast` is not a rate"),
        (&["set", "users=-1"], "-1"),
        (&["stop", "nothing"], "no running run is called `nothing`"),
        (&["attach"], "no run of this user is running"),
    ] {
        let refused = call(&place, words);
        refused.expect_exit(2);
        assert!(refused.stderr.contains(mention), "{words:?}: {refused}");
    }
}

#[test]
fn all_hosts_of_a_fleet_change_together() {
    with_hosts("all_hosts_of_a_fleet_change_together", 2, |hosts| {
        let target = crate::fleet_hosts::target(Script::constant(Duration::ZERO));
        let running = own(hosts.run(&target.url("/"), ["-r", "100/s", "-d", "60s"]), &hosts.place).start();
        let before = state(&hosts.place, Some(&running), is_running);
        assert_eq!(before["agents"][1]["name"], "load2", "{before}");
        let sampled = state(&hosts.place, Some(&running), |state| !state["hosts"][1].is_null());
        let host = &sampled["hosts"][1];
        assert_eq!(host["name"], "load2", "agents report their hosts: {sampled}");
        assert!(host["cores"].as_array().is_some_and(|cores| !cores.is_empty()), "{sampled}");
        assert!(host["cpu"].as_f64().is_some_and(|cpu| (0.0..=1.0).contains(&cpu)), "{sampled}");
        assert!(
            host["tcp_sockets"].as_u64() > Some(0) && host["memory_bytes"].as_u64() > Some(0),
            "{sampled}"
        );
        call(&hosts.place, &["set", "rate=400/s"]).expect_exit(0);
        state(&hosts.place, Some(&running), |state| state["latest"]["offered_per_s"] == 400);
        call(&hosts.place, &["stop"]).expect_exit(0);
        let outcome = running.wait(LIMIT);
        let result = outcome.result();
        assert!(matches!(outcome.exit, Some(3 | 4)), "{outcome}");
        result.conserved();
        assert_eq!(result.count("wire.sent"), target.settled().requests, "{result}");
        let at = result.value()["changes"][0]["at_s"].as_f64().expect("an instant");
        let ended = result.value()["duration_s"].as_f64().expect("a length");
        let expected = at * 100.0 + (ended - at) * 400.0;
        let offered = result.count("requests.offered") as f64;
        // Each agent stops when it hears of it.
        assert!((-3.0..800.0).contains(&(offered - expected)), "{offered}, not {expected}: {result}");
    });
}

/// Starts a search with a runtime folder of its own.
fn start_search(place: &TestDir, url: &str, words: &[&str]) -> Running {
    let program = Program::new(env!("CARGO_BIN_EXE_wavetank")).in_folder(place.path());
    own(program, place).args(["search", url, "--threshold", "p50 < 900ms", "--no-probe"]).args(words).start()
}

#[test]
fn a_search_is_listed_watched_and_stopped() {
    let (place, target) = (TestDir::new(), target());
    let words = [
        "-d", "1s", "--warmup", "0s", "--settle", "0s", "--from", "20/s", "--to", "100k/s", "--name", "knee",
    ];
    let search = start_search(&place, &target.url("/"), &words);
    // One search, whatever number of runs it made.
    let first = state(&place, Some(&search), |state| !state["search"]["runs"][0].is_null());
    assert_eq!((&first["name"], &first["search"]["of"]), (&"knee".into(), &"rate".into()), "{first}");
    assert_eq!(first["search"]["runs"][0]["level"], 20, "{first}");
    let later = state(&place, Some(&search), |state| {
        state["search"]["level"].as_f64() > Some(20.0)
            && state["latest"]["offered_per_s"].as_f64() > Some(20.0)
    });
    assert_eq!((&later["id"], &later["search"]["stage"]), (&first["id"], &"climb".into()), "{later}");
    assert!(later["at_s"].as_f64() > first["at_s"].as_f64(), "one clock: {first} {later}");
    let status = call(&place, &["status"]);
    assert!(status.expect_exit(0).stdout.contains("search: "), "{status}");
    let attached = own(Program::new(env!("CARGO_BIN_EXE_wavetank")), &place).in_folder(place.path());
    let attached = attached.args(["attach", "knee", "--format", "json"]).start();
    let refused = call(&place, &["set", "rate=1/s"]);
    refused.expect_exit(2);
    assert!(refused.stderr.contains("a search chooses it"), "{refused}");
    let stopped = call(&place, &["stop", "knee"]);
    assert!(stopped.expect_exit(0).stdout.contains("stopping"), "{stopped}");
    let outcome = search.wait(LIMIT);
    outcome.expect_exit(4);
    assert!(outcome.stdout.starts_with("stopped by its user"), "{outcome}");
    let attached = attached.wait(LIMIT);
    attached.expect_exit(4);
    let last = attached.stdout.lines().last().expect("it has states");
    let last: Value = serde_json::from_str(last).expect("a state");
    assert_eq!((&last["state"], &last["verdict"]["exit"]), (&"over".into(), &4.into()), "{last}");
    let runs = last["search"]["runs"].as_array().expect("a list");
    assert!(runs.len() >= 2, "{last}");
    let folder = last["archive"].as_str().expect("it is stored");
    let report = call(&place, &["report", folder, "--format", "json"]);
    let stored: Value = serde_json::from_str(&report.stdout).expect("the stored search");
    assert_eq!((&stored["answer"]["end"], &stored["id"]), (&"stopped".into(), &first["id"]), "{stored}");
    assert_eq!(stored["runs"].as_array().map(Vec::len), Some(runs.len()), "{stored}");
    assert!(call(&place, &["status"]).stdout.contains("no run of this user is running"));
}

#[test]
fn a_search_is_stopped_between_two_runs_and_its_report_follows() {
    let (place, target) = (TestDir::new(), target());
    let words = ["-d", "1s", "--warmup", "0s", "--settle", "10m", "--from", "20/s"];
    let search = start_search(&place, &target.url("/"), &words);
    let paused = state(&place, Some(&search), |state| {
        !state["search"]["runs"][0].is_null() && state["search"]["level"].is_null()
    });
    assert_eq!(paused["state"], "starting", "{paused}");
    let refused = call(&place, &["event", "deploy 4711"]);
    refused.expect_exit(2);
    assert!(refused.stderr.contains("between two runs"), "{refused}");
    let attached = own(Program::new(env!("CARGO_BIN_EXE_wavetank")), &place).in_folder(place.path());
    let attached = attached.args(["attach"]).start();
    let seen = poll_until(LIMIT, || attached.stderr().contains("attached").then_some(()));
    seen.expect("it watches");
    call(&place, &["stop"]).expect_exit(0);
    search.wait(LIMIT).expect_exit(4);
    let attached = attached.wait(LIMIT);
    assert!(attached.expect_exit(4).stdout.starts_with("stopped by its user"), "{attached}");
}

/// Two scenarios with a rate and one that holds connections, at the same time.
const PARALLEL: &str = "
wavetank: 1
name: many
target: TARGET
probe: false
scenarios:
  one: {steps: [{get: /}], phases: [{name: one, rate: 20/s, for: 10m}]}
  other: {steps: [{get: /}], phases: [{name: other, rate: 30/s, for: 10m}]}
  idle: {steps: [{get: /}, {think: 20m}], phases: [{name: idle, hold: 40, for: 10m}]}
";

/// Of several active phases, each can be changed by its name, also held connections.
#[test]
fn phases_that_run_in_parallel_are_changed_by_name() {
    let (place, target) = (TestDir::new(), target());
    place.write("many.yaml", PARALLEL.replace("TARGET", &target.url("")));
    let program = Program::new(env!("CARGO_BIN_EXE_wavetank")).in_folder(place.path());
    let running = own(program, &place).args(["run", "many.yaml", "--format", "json"]).start();
    let phase = |state: &Value, name: &str| {
        let phases = state["phases"].as_array().cloned().unwrap_or_default();
        phases.into_iter().find(|phase| phase["name"] == name).unwrap_or_default()
    };
    state(&place, Some(&running), |state| {
        is_running(state) && state["latest"]["connections"].as_u64() >= Some(40)
    });
    let refuse = |words: &[&str], message: &str, hint: &str| {
        let refused = call(&place, words);
        refused.expect_exit(2);
        assert!(refused.stderr.contains(message) && refused.stderr.contains(hint), "{refused}");
    };
    refuse(&["set", "rate=50/s"], "one and other are active at the same time", "--phase");
    refuse(&["set", "rate=50/s", "--phase", "none"], "there is no phase `none`", "one, other, idle");
    refuse(&["set", "rate=50/s", "--phase", "idle"], "phase idle does not have a rate", "connections=");
    refuse(&["set", "connections=41"], "planned for at most 40 held connections", "connections=40");
    call(&place, &["set", "rate=70/s", "--phase", "other"]).expect_exit(0);
    let changed = call(&place, &["set", "connections=15"]);
    assert!(
        changed.expect_exit(0).stdout.contains("load of phase idle changed to 15 connections"),
        "{changed}"
    );
    let after = state(&place, Some(&running), |state| {
        phase(state, "idle")["connections"] == 15 && state["latest"]["offered_per_s"].as_f64() >= Some(85.0)
    });
    assert_eq!(
        (&phase(&after, "one")["rate_per_s"], &phase(&after, "other")["rate_per_s"]),
        (&20.into(), &70.into())
    );
    // The scripted target counts the connections that are open to it.
    state(&place, Some(&running), |state| state["latest"]["users"] == 15);
    call(&place, &["set", "connections=40", "--phase", "idle"]).expect_exit(0);
    state(&place, Some(&running), |state| state["latest"]["users"] == 40);
    call(&place, &["stop", "--now"]).expect_exit(0);
    let outcome = running.wait(LIMIT);
    let result = outcome.result();
    result.conserved().agrees_with(&target.settled());
    let changes = result.value()["changes"].as_array().expect("a list");
    let named: Vec<_> = changes.iter().map(|change| (&change["phase"], &change["load"])).collect();
    let count = |count: u64| serde_json::json!({ "connections": count });
    assert_eq!(named[1..], [(&"idle".into(), &count(15)), (&"idle".into(), &count(40))], "{result}");
    // The archive is read with the same changes.
    let folder = place.runs("runs").remove(0);
    let report = call(&place, &["report", &folder.to_string_lossy()]);
    assert!(report.stdout.contains("load of phase idle changed to 15 connections"), "{report}");
}
