//! `wavetank lab run --agents`: the load hosts of a lab are the agents of a fleet.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use wavetank_testkit::{Outcome, Program, Running, Signal, poll_until};

use crate::fleet_hosts::START_TOLERANCE;
use crate::lab::place::Place;

const LIMIT: Duration = Duration::from_mins(2);

/// Three load hosts, one of them with two addresses, and a server.
const LAB: &str = "\
networks:
  front: 10.92.0.0/24
hosts:
  load1: {role: load, networks: [front], sources: 2}
  load[2-3]: {role: load, networks: [front]}
  app:
    role: server
    networks: [front]
    services:
      - serve: {listen: 8080, any: true}
";

/// An experiment with an event, a condition on a host, and rows that are used once.
const EXPERIMENT: &str = "\
wavetank: 1
name: by-agents
target: http://app:8080
data:
  accounts: {file: accounts.csv, row: unique}
steps: [{get: \"/${accounts.id}\"}]
phases:
  - {name: main, rate: 200/s, for: 3s}
thresholds:
  - failed = 0
  - memory(app) > 1MB
events:
  - {when: 1s, host: app, run: echo begun >> /run/history, undo: echo back >> /run/history}
";

fn start(place: &Place, words: &[&str]) -> Running {
    let always = ["run", "lab.yaml", "--agents", "--format", "json", "--runs-dir", "runs", "--quiet"];
    let start = ["--start-tolerance", START_TOLERANCE];
    place.lab(&[&always, words, &start].concat()).start()
}

fn run(place: &Place, words: &[&str]) -> (Outcome, Value) {
    let outcome = start(place, words).wait(LIMIT);
    let record = serde_json::from_str(&outcome.stdout).unwrap_or(Value::Null);
    (outcome, record)
}

/// Returns the only archive.
#[track_caller]
fn archive(place: &Place) -> PathBuf {
    let runs: Vec<_> = fs::read_dir(place.labs().with_file_name("runs")).expect("runs").collect();
    let [Ok(run)] = &runs[..] else { panic!("there is one run: {runs:?}") };
    run.path()
}

/// Checks the ending of a run that this machine may have been too slow for.
#[track_caller]
fn check_exit(outcome: &Outcome, record: &Value, exit: i32) {
    let late = outcome.exit == Some(3) && record["verdict"]["blame"] == "generator";
    assert!(late || outcome.exit == Some(exit), "{outcome}");
}

#[test]
fn load_hosts_are_agents_of_one_run() {
    let Some(place) = Place::new("agents", LAB) else { return };
    let rows: Vec<String> = (0..700).map(|row| row.to_string()).collect();
    place.file("accounts.csv", &format!("id\n{}\n", rows.join("\n")));
    place.file("load.yaml", EXPERIMENT);
    place.up();
    let (outcome, record) = run(&place, &["load.yaml"]);
    assert_eq!(place.said("app", "cat /run/history"), "begun\nback", "{outcome}");
    assert!(!place.said("load1", "ps -ef").contains("agent serve"), "the agents ended with the run");
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
    check_exit(&outcome, &record, 0);
    assert_eq!(
        (&record["requests"]["offered"], &record["fleet"]["status"]),
        (&600.into(), &"complete".into())
    );
    let agents = record["fleet"]["agents"].as_array().expect("a list").clone();
    for (agent, host) in agents.iter().zip(1..) {
        assert_eq!(agent["name"], format!("load{host}"), "{outcome}");
        assert_eq!((&agent["share"], &agent["end"]), (&json!([host - 1, 1, 3]), &"plan".into()), "{outcome}");
        let file = archive(&place).join(format!("intervals/load{host}.jsonl"));
        assert!(fs::read_to_string(file).is_ok_and(|text| text.lines().count() > 3), "{outcome}");
    }
    assert_eq!(agents.len(), 3, "{outcome}");
    let sent: u64 = agents.iter().filter_map(|agent| agent["sent"].as_u64()).sum();
    let dropped = record["requests"]["dropped"].as_u64().expect("a count");
    assert_eq!(sent + dropped, 600, "{outcome}");
    // The server saw each request and no other, and each row once.
    let server = &record["servers"][0];
    assert_eq!(
        (&server["requests"], &server["connections"]),
        (&server["run_requests"], &server["run_connections"])
    );
    let hosts: Vec<_> =
        record["hosts"].as_array().expect("a list").iter().map(|host| &host["name"]).collect();
    assert_eq!(hosts, ["load1", "load2", "load3", "app"], "{outcome}");
    for host in record["hosts"].as_array().into_iter().flatten().take(3) {
        let (all, load) = (host["cpu_s"].as_f64(), host["cpu_load_s"].as_f64());
        assert!(all.zip(load).is_some_and(|(all, load)| 0.0 < load && load <= all), "{host}");
    }
    let report = Program::new(env!("CARGO_BIN_EXE_wavetank")).args(["report", "--format", "json"]);
    let report = report.args([&archive(&place).to_string_lossy()]).run();
    assert_eq!(&report.expect_exit(0).json(), &record, "the archive says the same");
}

#[test]
fn agents_use_the_addresses_of_their_hosts() {
    let Some(place) = Place::new("agents-sources", LAB) else { return };
    let words = ["http://app:8080/", "-c", "8", "-n", "400", "--source", "auto"];
    let (outcome, record) = run(&place, &words);
    check_exit(&outcome, &record, 0);
    assert_eq!((&record["requests"]["done"], &record["fleet"]["status"]), (&400.into(), &"complete".into()));
    place.nothing_left("run");
}

/// The process of the agent of a host.
fn agent(place: &Place, host: &str) -> Option<rustix::process::Pid> {
    let folder = place.labs().join(&place.name).join("hosts").join(host).join(".agent");
    let line = format!("--name\0{host}\0--dir\0{}\0", folder.display());
    let mut processes = fs::read_dir("/proc").ok()?.flatten().filter_map(|entry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        let text = fs::read(entry.path().join("cmdline")).ok()?;
        // Processes that lead into the host have it among their arguments, too.
        let is_agent = text.starts_with(b"/proc/self/exe\0agent\0serve\0");
        (is_agent && String::from_utf8_lossy(&text).contains(&line)).then_some(number)
    });
    processes.find_map(rustix::process::Pid::from_raw)
}

/// Waits until intervals of this host are in the archive.
#[track_caller]
fn wait_for_load(place: &Place, run: &Running, host: &str) {
    let has_load = || {
        let run = fs::read_dir(place.labs().with_file_name("runs")).ok()?.next()?.ok()?;
        let text = fs::read_to_string(run.path().join(format!("intervals/{host}.jsonl"))).ok()?;
        (text.lines().count() > 1).then_some(())
    };
    assert!(poll_until(LIMIT, has_load).is_some(), "no load: {} {}", run.stdout(), run.stderr());
}

#[test]
fn an_agent_of_a_lab_that_is_killed_is_missing() {
    check_killed("agents-killed", "incomplete", ("incomplete", 4));
    // Each of the three has a third of the load.
    check_killed("agents-tolerated", "40%", ("tolerated", 0));
}

fn check_killed(name: &str, on_loss: &str, (status, exit): (&str, i32)) {
    let Some(place) = Place::new(name, LAB) else { return };
    let words = ["http://app:8080/", "-r", "90/s", "-d", "8s", "--lease", "5s", "--on-loss", on_loss];
    let run = start(&place, &words);
    wait_for_load(&place, &run, "load2");
    let agent = agent(&place, "load2").expect("it runs");
    rustix::process::kill_process(agent, rustix::process::Signal::KILL).expect("root may");
    let outcome = run.wait(LIMIT);
    let record = outcome.json();
    check_exit(&outcome, &record, exit);
    assert_eq!(
        (&record["fleet"]["status"], &record["fleet"]["agents"][1]["end"]),
        (&status.into(), &"lost".into())
    );
    place.nothing_left("run");
}

/// What the agents kept comes into the archive, and is deleted.
fn check_settled(place: &Place) {
    let spools = |host: &str| {
        let folder = place.labs().join(&place.name).join("hosts").join(host).join(".agent/spools");
        let files = fs::read_dir(folder).expect("the folder of an agent").flatten();
        files.map(|file| fs::read_to_string(file.path()).expect("a spool")).collect::<Vec<_>>()
    };
    let sealed = |text: &str| text.lines().filter(|line| line.starts_with("{\"v\":")).count();
    let hosts = ["load1", "load2", "load3"];
    let kept = hosts.map(|host| spools(host).iter().map(|text| sealed(text)).sum::<usize>());
    let runs = place.labs().with_file_name("runs");
    let settle = |words: &[&str]| {
        let all = ["fleet", "settle", "latest", "--format", "json", "--runs-dir", &runs.to_string_lossy()];
        let program = Program::new(env!("CARGO_BIN_EXE_wavetank"));
        let program = program.environment("WAVETANK_LABS", &place.labs().to_string_lossy());
        program.args(all.iter().chain(words)).run()
    };
    let outcome = settle(&["--lab", &place.name]);
    let settled = &outcome.json()["runs"][0];
    assert_eq!(settled["status"], "incomplete", "the plan was not carried out: {outcome}");
    for (host, kept) in hosts.iter().zip(kept) {
        let file = archive(place).join(format!("intervals/{host}.jsonl"));
        assert_eq!(sealed(&fs::read_to_string(file).expect("its intervals")), kept, "each once: {outcome}");
        assert!(kept > 0 && spools(host).is_empty(), "{host} keeps nothing any more: {outcome}");
    }
    assert!(archive(place).join("run.json").is_file(), "{outcome}");
    let again = settle(&["--lab", &place.name]);
    assert!(again.expect_exit(5).stdout.contains("it is settled already"), "{again}");
    let both = settle(&["--lab", &place.name, "-w", "load1"]);
    both.expect_exit(2);
    // The next run has an archive of its own.
    fs::remove_dir_all(runs).expect("its own folder");
}

#[test]
fn agents_end_with_a_run_that_is_killed() {
    let Some(place) = Place::new("agents-orphans", LAB) else { return };
    place.up();
    let run = start(&place, &["http://app:8080/", "-r", "90/s", "-d", "60s"]);
    wait_for_load(&place, &run, "load3");
    run.signal(Signal::KILL);
    run.wait(LIMIT);
    let are_gone =
        || ["load1", "load2", "load3"].iter().all(|host| agent(&place, host).is_none()).then_some(());
    assert!(poll_until(LIMIT, are_gone).is_some(), "agents outlive their run");
    check_settled(&place);
    // The lab is free for the next run.
    let (outcome, record) = self::run(&place, &["http://app:8080/", "-r", "90/s", "-d", "1s"]);
    check_exit(&outcome, &record, 0);
    assert_eq!(
        (&record["requests"]["offered"], &record["fleet"]["status"]),
        (&90.into(), &"complete".into())
    );
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}
