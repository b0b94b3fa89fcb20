//! `wavetank run --fleet`: several hosts together send exactly the load of one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use wavetank_testkit::{RunResult, Script, ScriptAction, answer, poll_until};

use crate::fleet_hosts::{FleetHosts, LIMIT, check, is_all_sent, of_agent, target, with_hosts};

fn script() -> Script {
    Script::constant(Duration::from_millis(1))
}

#[test]
fn four_hosts_offer_what_one_offers() {
    with_hosts("four_hosts_offer_what_one_offers", 4, |hosts| {
        let target = target(script());
        let words = "-r 600/s -d 2s --name whole";
        let outcome = hosts.outcome(&target.url("/"), words, &target);
        let result = check(&outcome, &target, 0);
        assert_eq!((result.count("requests.offered"), result.text("fleet.status")), (1_200, "complete"));
        // A machine that wakes threads late starts them late, too.
        let skew = result.number("fleet.start_skew_us");
        assert!(skew <= 2_000.0 || !is_all_sent(&result) || outcome.exit == Some(3), "{skew} us: {result}");
        for host in 1..=4 {
            assert_eq!(of_agent(&result, host, "share"), &serde_json::json!([host - 1, 1, 4]), "{result}");
            assert_eq!(of_agent(&result, host, "end"), "plan", "{result}");
            assert!(*of_agent(&result, host, "sent") == 300 || !is_all_sent(&result), "{result}");
            assert_eq!(hosts.spools(host).len(), 0, "the run is settled");
        }
        check_reports(hosts, &result);
        // The agents are free for another run.
        check(&hosts.outcome(&target.url("/"), words, &target), &target, 0);
        let [.., one, other] = &hosts.place.runs("runs")[..] else { panic!("there are two runs") };
        let words = ["compare".into(), one.to_string_lossy(), other.to_string_lossy()];
        let compared = hosts.program().args(words).args(["--format", "json"]).run();
        assert!(compared.exit != Some(2) && compared.json()["schema"] == "wavetank.compare/1", "{compared}");
    });
}

/// Requests that a run offered in each second, by the intervals of its archive.
fn offered(hosts: &FleetHosts) -> BTreeMap<i64, u64> {
    let files = hosts.place.all_files();
    let own = files.iter().filter(|file| file.starts_with(hosts.archive().join("intervals")));
    let lines = own.map(|file| std::fs::read_to_string(file).expect("it is readable"));
    let mut seconds = BTreeMap::new();
    for line in lines.collect::<String>().lines() {
        let interval: serde_json::Value = serde_json::from_str(line).expect("a line is JSON");
        let series = interval["series"].as_array().into_iter().flatten();
        let count: u64 = series.filter_map(|one| one["requests"]["offered"].as_u64()).sum();
        if let Some(from) = interval["from_ns"].as_i64().filter(|_| count > 0) {
            *seconds.entry(from).or_default() += count;
        }
    }
    seconds
}

#[test]
fn four_hosts_offer_the_random_arrivals_of_one() {
    with_hosts("four_hosts_offer_the_random_arrivals_of_one", 4, |hosts| {
        let target = target(script());
        let words = "-r 300/s -d 4s --arrivals poisson --seed 11";
        check(&hosts.outcome(&target.url("/"), words, &target), &target, 0);
        let of_fleet = offered(hosts);
        let alone = hosts.program().args(["run", &target.url("/"), "--format", "json"]);
        alone.args(words.split(' ')).run().result().conserved();
        // Numbers differ from second to second, and both runs have the same ones.
        assert_eq!(of_fleet, offered(hosts));
        assert!(of_fleet.len() == 4 && of_fleet.values().any(|count| *count != 300), "{of_fleet:?}");
    });
}

/// Checks that everything that reads the archive of the only run agrees with its result.
#[track_caller]
fn check_reports(hosts: &FleetHosts, result: &RunResult) {
    let archive = hosts.archive().to_string_lossy().into_owned();
    let outs = ["r.html", "r.xml", "r.hgrm", "r.hlog"].map(|name| hosts.place.file(name));
    let words = outs.iter().flat_map(|out| ["--out", out]);
    let report = hosts.program().args(["report", &archive, "--format", "json"]).args(words).run();
    assert_eq!(&report.expect_exit(0).result(), result, "the archive says the same");
    for out in outs {
        assert!(std::fs::metadata(&out).is_ok_and(|file| file.len() > 100), "{out} is written: {report}");
    }
    let text = hosts.program().args(["report", &archive]).run();
    assert!(text.expect_exit(0).stdout.contains("load4"), "{text}");
    let runs = hosts.program().args(["runs", "list"]).run();
    assert!(runs.expect_exit(0).stdout.contains("whole"), "{runs}");
}

#[test]
fn weights_split_a_closed_load() {
    with_hosts("weights_split_a_closed_load", 2, |hosts| {
        hosts.place.write("fleet.yaml", "wavetank_fleet: 1\nload:\n  load1: {weight: 3}\n  load2: {}\n");
        let target = target(script());
        let outcome = hosts.outcome(&target.url("/"), "-c 8 -n 1000", &target);
        let result = check(&outcome, &target, 0);
        // Each agent first checks that it can connect.
        assert_eq!((result.count("requests.done"), target.truth().connections), (1_000, 8 + 2), "{result}");
        let sent = |host: usize| of_agent(&result, host, "sent").as_u64();
        assert_eq!((sent(1), sent(2)), (Some(750), Some(250)), "{result}");
        assert_eq!(of_agent(&result, 1, "share"), &serde_json::json!([0, 3, 4]));
        // Without the one, the other has all of it.
        let outcome = hosts.outcome(&target.url("/"), "-c 4 -d 1s --without load2", &target);
        let result = check(&outcome, &target, 0);
        assert_eq!(
            (of_agent(&result, 1, "share"), target.truth().open_peak),
            (&serde_json::json!([0, 1, 1]), 4)
        );
    });
}

const FILE: &str = "\
wavetank: 1
name: rows
target: TARGET
data:
  accounts: {file: given-accounts.csv, row: unique}
scenarios:
  one:
    weight: 1
    steps:
      - post: \"/a/${accounts.id}\"
        headers: {x-token: \"${secret:TOKEN}\"}
        file: given-body
phases:
  - {users: 6, for: 60s, sessions: 200}
";
const TOKEN: &str = "planted-secret-of-a-fleet";
const BODY: &str = "a body that is in a file of the controller";

#[test]
fn rows_are_unique_and_secrets_stay_hidden() {
    with_hosts("rows_are_unique_and_secrets_stay_hidden", 3, |hosts| {
        let seen: Arc<Mutex<Vec<(String, bool)>>> = Arc::default();
        let theirs = Arc::clone(&seen);
        let target = target(Script::new(move |request| {
            let right = request.field("x-token") == Some(TOKEN) && request.body == BODY.as_bytes();
            theirs.lock().expect("nothing panics").push((request.path.clone(), right));
            vec![ScriptAction::Wait(Duration::from_millis(20)), ScriptAction::Send(answer(200, b"ok"))]
        }));
        let rows = (0..200).map(|row| row.to_string()).collect::<Vec<_>>().join("\n");
        hosts.place.write("given-accounts.csv", format!("id\n{rows}\n"));
        hosts.place.write("given-body", BODY);
        hosts.place.write("given-token", TOKEN);
        hosts.place.write("x.yaml", FILE.replace("TARGET", target.url("").trim_end_matches('/')));
        let running = hosts.under_load("x.yaml", "--secret TOKEN=@given-token", &target, 20);
        check_processes();
        let outcome = running.wait(LIMIT);
        let result = check(&outcome, &target, 0);
        assert_eq!(result.count("sessions.done"), 200, "{result}");
        let seen = seen.lock().expect("nothing panics");
        assert!(seen.iter().all(|(_, right)| *right), "fields and bodies arrive");
        let paths: BTreeSet<&str> = seen.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!((paths.len(), seen.len()), (200, 200), "each row once");
        for text in [&outcome.stdout, &outcome.stderr, &hosts.agent(1).stderr(), &hosts.agent(3).stderr()] {
            assert!(!text.contains(TOKEN), "{outcome}");
        }
        check_files(hosts);
    });
}

/// Checks that no process has the secret in its arguments.
fn check_processes() {
    let processes = std::fs::read_dir("/proc").expect("a folder").flatten();
    let lines: Vec<Vec<u8>> =
        processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok()).collect();
    let has = |part: &str| lines.iter().any(|line| String::from_utf8_lossy(line).contains(part));
    assert!(has("attach") && !has(TOKEN), "arguments contain the secret");
}

/// Checks that no file has the secret but those that the user wrote.
fn check_files(hosts: &FleetHosts) {
    let files = hosts.place.all_files();
    assert!(files.iter().any(|file| file.ends_with("intervals/load3.jsonl")), "{files:?}");
    for file in files.iter().filter(|file| !file.to_string_lossy().contains("given")) {
        let text = std::fs::read(file).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&text).contains(TOKEN), "{} has the secret", file.display());
    }
}

#[test]
fn a_lost_connection_loses_nothing() {
    with_hosts("a_lost_connection_loses_nothing", 2, |hosts| {
        let target = target(script());
        let running = hosts.under_load(&target.url("/"), "-r 200/s -d 5s", &target, 200);
        let session = session_of(hosts, 2).expect("it is connected");
        let session = rustix::process::Pid::from_raw(session).expect("a process");
        rustix::process::kill_process(session, rustix::process::Signal::KILL).expect("it runs");
        let outcome = running.wait(LIMIT);
        let result = check(&outcome, &target, 0);
        assert_eq!((result.count("requests.offered"), result.text("fleet.status")), (1_000, "complete"));
        let events = result.at("events").to_string();
        assert!(events.contains("load2: connection lost"), "{result}");
        assert!(poll_until(LIMIT, || hosts.spools(2).is_empty().then_some(())).is_some(), "it is settled");
    });
}

/// The process of sshd that has the connection to a host's agent.
fn session_of(hosts: &FleetHosts, host: usize) -> Option<i32> {
    let folder = hosts.folder(host).to_string_lossy().into_owned();
    let stat = std::fs::read_dir("/proc").ok()?.flatten().find_map(|process| {
        let line = String::from_utf8(std::fs::read(process.path().join("cmdline")).ok()?).ok()?;
        let is_it = line.starts_with(&folder) && line.contains("\0attach\0");
        is_it.then(|| std::fs::read_to_string(process.path().join("stat")).ok())?
    })?;
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(1)?.parse().ok()
}

#[test]
fn agents_sample_their_hosts() {
    with_hosts("agents_sample_their_hosts", 2, |hosts| {
        let target = target(script());
        let words = "-r 200/s -d 4s --threshold memory(load*)<100%";
        let outcome = hosts.outcome(&target.url("/"), words, &target);
        let result = check(&outcome, &target, 0);
        let value = result.value();
        let sampled = value["hosts"].as_array().expect("hosts are sampled");
        let names: Vec<_> = sampled.iter().map(|host| (&host["name"], &host["role"])).collect();
        assert_eq!(names.len(), 2, "{sampled:?}");
        for (host, number) in sampled.iter().zip(1..) {
            assert!(host["name"] == format!("load{number}") && host["role"] == "load", "{host}");
            assert!(
                host["cpu_load_s"].as_f64() > Some(0.0) && host["seconds"].as_f64() > Some(1.5),
                "{host}"
            );
            let limits = host["limits"].as_array().into_iter().flatten();
            let named: Vec<_> = limits.filter_map(|limit| limit["resource"].as_str()).collect();
            assert!(["cpu", "memory", "files"].iter().all(|one| named.contains(one)), "{named:?}");
        }
        assert_eq!(value["thresholds"][0]["ok"], true, "{}", value["thresholds"]);
        assert!(value["nearest_limit"]["host"].as_str().is_some_and(|host| host.starts_with("load")));
        // The archive has the samples once, in the lines of the agents' intervals.
        let archive = hosts.archive();
        assert!(!archive.join("hosts").join("load1.jsonl").exists());
        for agent in ["load1", "load2"] {
            let lines = std::fs::read_to_string(archive.join(format!("intervals/{agent}.jsonl")));
            let lines = lines.expect("each agent has intervals");
            let samples = lines.lines().flat_map(|line| {
                let line: serde_json::Value = serde_json::from_str(line).expect("a line is JSON");
                line["extras"]["host_samples"].as_array().cloned().unwrap_or_default()
            });
            let last = samples.filter_map(|sample| sample["at_ns"].as_i64()).max();
            assert!(last >= Some(4_000_000_000), "the last second of {agent} has a sample: {last:?}");
        }
        let words = ["report", &archive.to_string_lossy(), "--format", "json"];
        let report = hosts.program().args(words).run();
        report.expect_exit(0);
        assert_eq!(report.json()["hosts"], value["hosts"]);
    });
}
