//! `wavetank lab run`: the load comes from the lab's load hosts, and every host is sampled during
//! the load.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::{Signal, kill_process};
use serde_json::Value;
use wavetank_testkit::{Outcome, Program, Running, expect_time, poll_until, retry_timing_of, skip};

use crate::lab::place::Place;

/// Two load hosts, one of them with two addresses, and a server.
const LAB: &str = "\
networks:
  front: 10.92.0.0/24
hosts:
  load1: {role: load, networks: [front], sources: 2}
  load2: {role: load, networks: [front]}
  app:
    role: server
    networks: [front]
    services:
      - serve: {listen: 8080, any: true}
";

/// An experiment against the server, by its name in the lab.
const EXPERIMENT: &str = "\
wavetank: 1
name: in-a-lab
target: http://app:8080
steps: [{get: /}]
phases:
  - {name: main, rate: 200/s, for: 3s}
probe: true
before: [{post: /truth/reset}]
after:
  - get: /truth
thresholds:
  - failed = 0
  - cpu(app) < 100%
  - memory(app) > 1MB
  - net_out(app) > 1kbit/s
  - cpu(load[1-2]) < 100%
";

impl Place {
    /// Runs the experiment `text` in the lab with `words`. Returns its record, if it printed one.
    fn run(&self, text: &str, words: &[&str]) -> (Outcome, Value) {
        let file = self.labs().with_file_name("load.yaml");
        fs::write(&file, text).expect("can be written");
        let always = ["run", "lab.yaml", "load.yaml", "--format", "json", "--runs-dir", "runs", "--quiet"];
        let outcome = self.lab(&[&always, words].concat()).run();
        let record = serde_json::from_str(&outcome.stdout).unwrap_or(Value::Null);
        (outcome, record)
    }

    /// As `run`, for a run that must end with this exit code. It is repeated if this machine was
    /// too late for it, or for its lab. Returns `None` if the test was recorded as skipped.
    pub(crate) fn run_on_time(&self, text: &str, exit: i32) -> Option<(Outcome, Value)> {
        retry_timing_of(|| {
            let (outcome, record) = self.run(text, &[]);
            let behind = record["dropped_by"]["behind"].as_u64().unwrap_or(0);
            let is_invalid = outcome.exit == Some(3) && record["verdict"]["blame"] == "generator";
            let stalled = exit == 0 && outcome.exit == Some(1) && outcome.result().late_share() > 0.02;
            let late = behind > 0 || exit != 3 && is_invalid || stalled;
            expect_time(!late, || format!("the load was late, {behind} requests were dropped: {outcome}"))?;
            outcome.expect_exit(exit);
            Ok((outcome, record))
        })
    }

    /// Returns the output of `wavetank report` for the newest run.
    fn report(&self, words: &[&str]) -> String {
        let program = Program::new(env!("CARGO_BIN_EXE_wavetank")).args(["report", "latest"]).args(words);
        let folder = self.labs().parent().expect("it is in the place's folder").to_owned();
        let outcome = program.in_folder(folder).run();
        outcome.expect_exit(0);
        outcome.stdout
    }

    /// Returns the lines of a file in the newest archive.
    fn archived(&self, file: &str) -> Vec<Value> {
        let runs = fs::read_dir(self.labs().with_file_name("runs")).expect("there are runs");
        let newest: Option<PathBuf> = runs.map(|run| run.expect("readable").path()).max();
        let path = newest.expect("there is one").join(file);
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
    }
}

#[test]
fn a_run_brings_its_lab_up_and_takes_it_down() {
    let Some(place) = Place::new("run", LAB) else { return };
    let Some((outcome, record)) = place.run_on_time(EXPERIMENT, 0) else { return };
    place.nothing_left("run");
    assert_eq!(record["requests"]["done"], 600, "{outcome}");
    assert_eq!(record["verdict"]["status"], "pass", "{outcome}");
    let all_held = record["thresholds"].as_array().expect("a list").iter().all(|one| one["ok"] == true);
    assert!(all_held, "{}", record["thresholds"]);
    let hosts = record["hosts"].as_array().expect("hosts are reported");
    let names: Vec<_> = hosts.iter().map(|host| (&host["name"], &host["role"])).collect();
    let named = |name: &str, role: &str| (Value::from(name), Value::from(role));
    let expected = [named("load1", "load"), named("load2", "load"), named("app", "server")];
    assert!(
        names.iter().zip(&expected).all(|((name, role), (own, its))| *name == own && *role == its),
        "{names:?}"
    );
    for host in &hosts[..2] {
        let (all, load) = (host["cpu_s"].as_f64(), host["cpu_load_s"].as_f64());
        assert!(all.zip(load).is_some_and(|(all, load)| 0.0 < load && load <= all), "{host}");
    }
    assert!(hosts[2]["cpu_load_s"].is_null(), "{}", hosts[2]);
    assert!(hosts[2]["cpu_s"].as_f64().is_some_and(|seconds| seconds > 0.0), "{}", hosts[2]);
    assert!(hosts[2]["out_bytes"].as_u64().is_some_and(|bytes| bytes > 600 * 50), "{}", hosts[2]);
    // Both send the same load, so both send nearly the same number of bytes.
    let sent = |host: usize| hosts[host]["out_bytes"].as_u64().expect("a count") as f64;
    assert!((sent(0) / sent(1) - 1.0).abs() < 0.4, "{} and {}", hosts[0], hosts[1]);
    for host in ["load1", "load2", "app"] {
        let lines = place.archived(&format!("hosts/{host}.jsonl"));
        assert!(lines.len() >= 4, "{host}: {lines:?}");
    }
    let outcome = place.report(&["--format", "csv", "--by-host"]);
    let rows = |host: &str| outcome.lines().filter(|line| line.starts_with(&format!("{host},"))).count();
    assert!(["load1", "load2", "app"].iter().all(|host| rows(host) >= 4), "{outcome}");
    let outcome = place.report(&["--format", "markdown"]);
    assert!(outcome.contains("### Hosts\n") && outcome.contains("| `load2` | load |"), "{outcome}");
    let environment = fs::read_dir(place.labs().with_file_name("runs")).expect("runs").next().expect("one");
    let path = environment.expect("readable").path().join("environment.json");
    let environment: Value =
        serde_json::from_str(&fs::read_to_string(path).expect("readable")).expect("it is JSON");
    assert_eq!(environment["lab"]["hosts"][2]["name"], "app");
}

#[test]
fn what_services_wrote_is_kept_with_the_run() {
    let Some(place) = Place::new(
        "kept-logs",
        &LAB.replace("any: true}", "any: true}\n      - command: {run: '{run}'}")
            .replace("{run}", "echo begun as $(hostname); exec sleep 1000"),
    ) else {
        return;
    };
    // The quality of the load does not matter here, only that a run took place.
    let kept = |(outcome, record): (Outcome, Value)| {
        let id = record["id"].as_str().unwrap_or_else(|| panic!("no run: {outcome}"));
        let runs = fs::read_dir(place.labs().with_file_name("runs")).expect("there are runs");
        let mut paths = runs.map(|run| run.expect("readable").path());
        let its = paths.find(|path| path.to_string_lossy().ends_with(id)).expect("it is there");
        fs::read_to_string(its.join("services/app/command.log"))
            .unwrap_or_else(|_| panic!("no log: {outcome}"))
    };
    let log = kept(place.run(EXPERIMENT, &[]));
    place.nothing_left("run");
    assert!(log.contains("begun as app\n"), "{log}");
    let show = || {
        Program::new(env!("CARGO_BIN_EXE_wavetank"))
            .args(["runs", "show", "latest"])
            .in_folder(place.labs().parent().expect("it is in the place's folder").to_owned())
            .run()
    };
    let shown = show();
    assert!(shown.expect_exit(0).stdout.contains("services/app/command.log"), "{shown}");
    assert!(!shown.stdout.contains("problem"), "{shown}");
    // If the lab stays up, the archive has only the output written during the run.
    place.up();
    let event = "events:\n  - {when: 1s, host: app, run: fault kill command, for: 1s}\n";
    let log = kept(place.run(&format!("{EXPERIMENT}{event}"), &[]));
    assert_eq!(log.matches("begun as app\n").count(), 1, "{log}");
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

#[test]
fn every_source_address_of_every_load_host_is_used() {
    let Some(place) = Place::new("sources", LAB) else { return };
    place.up();
    let text = EXPERIMENT.replace("probe: true", "sources: auto").replace("rate: 200/s", "users: 12");
    let text = text.replace("  - failed = 0", "  - failed = 0\n  - established(app) >= 12 in main");
    let seen = "for i in $(seq 60); do ss -Htn state established sport = :8080 | awk '{print $4}' | cut -d: -f1 | sort | uniq -c; \
                sleep 0.05; done | sort | uniq | awk '{print $2}' | sort -u";
    let watch = place.lab(&["exec", "app", "--", "sh", "-c", seen]);
    let (outcome, watched) = std::thread::scope(|scope| {
        let watched = scope.spawn(move || watch.run());
        (place.run(&text, &[]), watched.join().expect("it only looks"))
    });
    outcome.0.expect_exit(0);
    // The lab was up before, and stays up.
    let status = place.lab(&["status"]).run();
    assert!(status.expect_exit(0).stdout.contains(": up"), "{status}");
    // The host itself asks its server for its counts.
    let addresses: Vec<_> = watched.stdout.lines().filter(|address| *address != "10.92.0.4").collect();
    assert_eq!(addresses.len(), 3, "two of load1, one of load2: {watched}");
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

#[test]
fn what_the_lab_does_not_have_is_reported_before_anything_is_sent() {
    let Some(place) = Place::new("unknown", LAB) else { return };
    let (outcome, record) = place.run(&EXPERIMENT.replace("cpu(app)", "cpu(ap)"), &[]);
    outcome.expect_exit(2);
    assert_eq!(
        (&record["code"], &record["hint"]),
        (&Value::from("host_unobserved"), &Value::from("did you mean app?"))
    );
    let (outcome, record) = place.run(EXPERIMENT, &["--threads", "1"]);
    outcome.expect_exit(2);
    assert!(record["message"].as_str().is_some_and(|text| text.contains("2 load hosts")), "{outcome}");
    place.nothing_left("two refusals");
    place.up();
    let file = place.labs().with_file_name("lab.yaml");
    let text = fs::read_to_string(&file).expect("readable");
    fs::write(&file, text.replace("sources: 2", "sources: 3")).expect("can be written");
    let (outcome, record) = place.run(EXPERIMENT, &[]);
    outcome.expect_exit(2);
    assert_eq!(record["code"], "lab_differs", "{outcome}");
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

#[test]
fn what_a_killed_lab_left_is_no_obstacle() {
    let Some(place) = Place::new("dead-before", LAB) else { return };
    place.up();
    kill_process(place.keeper(), Signal::KILL).expect("root may");
    let is_dead = || place.lab(&["status"]).run().stdout.contains(": dead").then_some(());
    assert!(poll_until(Duration::from_mins(1), is_dead).is_some(), "its keeper was killed");
    let outcome = place.lab(&["run", "lab.yaml", "http://app:8080/", "--once"]).run();
    assert!(outcome.expect_exit(0).stdout.contains("200"), "{outcome}");
    place.nothing_left("run");
}

#[test]
fn a_threshold_on_a_host_breaks_the_run() {
    let Some(place) = Place::new("broken", LAB) else { return };
    let text = EXPERIMENT.replace("memory(app) > 1MB", "memory(app) < 1MB");
    let Some((outcome, record)) = place.run_on_time(&text, 1) else { return };
    let broken = record["thresholds"].as_array().expect("a list").iter().filter(|one| one["ok"] == false);
    let broken: Vec<_> = broken.map(|one| &one["expr"]).collect();
    assert_eq!(broken, ["memory(app) < 1MB"], "{outcome}");
    place.nothing_left("run");
}

/// A balancer that receives all of the load, and a server behind it.
fn balanced(balancer: &str) -> String {
    format!(
        "networks: {{front: 10.93.0.0/24, back: 10.93.1.0/24}}\n\
         hosts:\n\
         \x20 load[1-2]: {{role: load, networks: [front]}}\n\
         \x20 lb1: {{role: balancer, networks: [front, back], services: [{balancer}]}}\n\
         \x20 app: {{role: server, networks: [back], services: [serve: {{listen: 8080, any: true}}]}}\n"
    )
}

#[test]
fn servers_count_what_the_run_counts() {
    let text =
        EXPERIMENT.split("before:").next().expect("there is a beginning").replace("app:8080", "lb1:8080");
    for (program, service) in [
        // Without checks, a slow server stays in. Otherwise HAProxy would respond itself.
        ("haproxy", "haproxy: {mode: http, listen: 8080, servers: \"app:8080\", check: false}"),
        ("nginx", "nginx: {listen: 8080, servers: \"app:8080\"}"),
    ] {
        if Program::foreign(program).is_none() {
            skip("servers_count_what_the_run_counts", &format!("`{program}` is not installed"));
            continue;
        }
        let Some(place) = Place::new(&format!("counted-{program}"), &balanced(service)) else { return };
        let Some((outcome, record)) = place.run_on_time(&text, 0) else { return };
        place.nothing_left("run");
        let server = &record["servers"][0];
        assert_eq!(server["server"], format!("lb1/{program}"), "{outcome}");
        assert_eq!(server["connections"], server["run_connections"], "{server}");
        assert_eq!(server["requests"], server["run_requests"], "{server}");
        assert_eq!(server["requests"], 601, "600 and the probe: {server}");
    }
}

/// Waits until the load of the only run is in progress.
#[track_caller]
fn loads(place: &Place, run: &Running) {
    let runs = place.labs().with_file_name("runs");
    let sealed = || {
        let run = fs::read_dir(&runs).ok()?.next()?.ok()?;
        let text = fs::read_to_string(run.path().join("intervals/local.jsonl")).ok()?;
        (text.lines().count() > 1).then_some(())
    };
    assert!(
        poll_until(Duration::from_mins(1), sealed).is_some(),
        "the load is in progress: {}",
        run.stderr()
    );
}

#[test]
fn a_run_that_is_killed_leaves_no_lab_of_its_own() {
    let Some(place) = Place::new("killed-run", LAB) else { return };
    let words = ["run", "lab.yaml", "http://app:8080/", "-r", "50/s", "-d", "1m", "--runs-dir", "runs"];
    let run = place.lab(&words).start();
    loads(&place, &run);
    run.signal(Signal::KILL);
    run.wait(Duration::from_mins(1));
    poll_until(Duration::from_mins(1), || place.is_as_before().then_some(()));
    place.nothing_left("a run that was killed");
    // A lab that was up before stays up, and another run can use it.
    place.up();
    fs::remove_dir_all(place.labs().with_file_name("runs")).expect("it is there");
    let run = place.lab(&words).start();
    loads(&place, &run);
    run.signal(Signal::KILL);
    run.wait(Duration::from_mins(1));
    place.lab(&["run", "lab.yaml", "http://app:8080/", "--once"]).run().expect_exit(0);
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

#[test]
fn what_clients_saw_of_a_lab_that_went_is_no_verdict_on_its_servers() {
    let Some(place) = Place::new("gone", LAB) else { return };
    place.up();
    let words = ["run", "lab.yaml", "http://app:8080/", "-r", "50/s", "-d", "12s", "--runs-dir", "runs"];
    let run = place.lab(&words).start();
    loads(&place, &run);
    place.lab(&["down"]).run().expect_exit(0);
    let outcome = run.wait(Duration::from_mins(1));
    assert!(
        outcome.expect_exit(4).stdout.contains("the lab was taken down while the run went on"),
        "{outcome}"
    );
    place.nothing_left("down");
}

#[test]
fn what_is_wrong_with_the_run_is_reported_before_the_lab_is_made() {
    let Some(place) = Place::new("ahead", LAB) else { return };
    // If a keeper were started in spite of the error, it would crash there, and the message would
    // be another.
    let outcome = |words: &[&str]| {
        let always = ["run", "lab.yaml"];
        place.lab(&[&always, words].concat()).environment("WAVETANK_LAB_CRASH", "locked").run()
    };
    let check = |text: &str, code: &str| {
        fs::write(place.labs().with_file_name("load.yaml"), text).expect("can be written");
        let run = outcome(&["load.yaml"]);
        assert!(run.expect_exit(2).stderr.contains(code), "no {code}: {run}");
    };
    let missing = outcome(&["nowhere.yaml"]);
    assert!(missing.expect_exit(2).stderr.contains("[bad_file]"), "{missing}");
    check(&EXPERIMENT.replace("for: 3s", "for: 3"), "unit_missing");
    check(&EXPERIMENT.replace("cpu(app)", "cpu(apple)"), "[host_unobserved]");
    check(&format!("{EXPERIMENT}data: {{users: {{file: nowhere.csv}}}}\n"), "data_missing");
    let event = |event: &str| format!("{EXPERIMENT}events:\n  - {{when: 1s, {event}}}\n");
    check(&event("host: apple, run: \"true\""), "[lab_host]");
    check(&event("host: app, run: fault kill nginx"), "[lab_fault");
    let url = outcome(&["http://app:8080/", "--threshold", "cpu(apple) < 100%"]);
    assert!(url.expect_exit(2).stderr.contains("[host_unobserved]"), "{url}");
    place.nothing_left("runs that were refused");
}

#[test]
fn a_lab_without_room_for_a_run_is_not_created() {
    let Some(place) = Place::new("loadless", &LAB.replace("role: load", "role: server")) else { return };
    let (outcome, _) = place.run(EXPERIMENT, &[]);
    assert!(
        outcome.expect_exit(2).stderr.contains("lab_no_load_host")
            || outcome.stdout.contains("lab_no_load_host"),
        "{outcome}"
    );
    place.nothing_left("a run that was refused");
}

#[test]
fn lab_servers_report_their_count_of_held_connections() {
    let Some(place) = Place::new("held", LAB) else { return };
    let text = "wavetank: 1\nname: held\ntarget: http://app:8080\nsteps: [{get: /}, {think: 1s}]\nphases:\n  \
                - {name: open, hold: 0 to 60, at: 60/s}\n  - {name: keep, hold: 60, for: 3s}\n  \
                - {name: close, hold: 60 to 0, at: 60/s}\n";
    let made = retry_timing_of(|| {
        let (outcome, record) = place.run(text, &[]);
        let held = &record["held"][0];
        // A late run asks for the first counts when some connections are open already.
        let in_time = held["lowest"] == 60 && held["target"]["accepted"] == 60;
        expect_time(in_time, || format!("not in time: {held}: {outcome}"))?;
        outcome.expect_exit(0);
        Ok((outcome, record))
    });
    let Some((outcome, record)) = made else { return };
    let held = &record["held"][0];
    assert_eq!((&held["planned"], &held["target"]["open"]), (&60.into(), &60.into()), "{outcome}");
    let kernel = |name: &str| held["kernel"][name].as_u64().expect("it is counted");
    assert_eq!(kernel("tcp_inuse") - kernel("tcp_inuse_before"), 60, "both load hosts together: {held}");
    assert_eq!(kernel("tcp_asking"), 0, "{held}");
    // No server is asked if the file disables it.
    let (outcome, record) = place.run(&format!("{text}truth: false\n"), &[]);
    outcome.expect_exit(0);
    assert!(record["held"][0]["target"].is_null(), "{outcome}");
    place.nothing_left("two runs");
}
