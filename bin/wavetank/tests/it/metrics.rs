//! `--metrics`: what other systems receive during a run.

use std::net::TcpListener;
use std::time::Duration;

use wavetank_testkit::{Program, RunHarness, Script, Target, free_port, poll_until};

use crate::fleet_hosts::{self, with_hosts};
use crate::metrics_support::{counters_of_json, counters_of_text, get};

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

fn target() -> Target {
    Target::start(Script::constant(Duration::from_millis(3)))
}

const LOAD: [&str; 6] = ["-r", "200/s", "-d", "2s", "--warmup", "500ms"];

#[test]
fn the_last_counters_are_those_of_the_result() {
    let (trial, target, port) = (trial(), target(), free_port());
    let file = trial.place().file("metrics.jsonl");
    let endpoint = format!("prometheus=127.0.0.1:{port}");
    let lines = format!("json={file}");
    let words = ["--metrics", &endpoint, "--metrics", &lines];
    let running = trial.load(&target.url("/"), LOAD.iter().chain(&words)).start();
    let mut last = String::new();
    // The endpoint ends with the run, after the scrape of the last interval.
    poll_until(Duration::from_mins(1), || match get(port, "/metrics") {
        Some(text) => {
            last = text;
            None
        }
        None if last.is_empty() => None,
        None => Some(()),
    });
    let outcome = running.wait(Duration::from_mins(1));
    assert!(matches!(outcome.exit, Some(0 | 3)), "{outcome}");
    let result = outcome.json();
    counters_of_text(&last).expect_equal(&result);
    assert!(last.contains(&format!("run=\"{}\"", result["id"].as_str().expect("an id"))), "{last}");
    let text = std::fs::read_to_string(&file).expect("the file is written");
    counters_of_json(&text).expect_equal(&result);
    assert!(!outcome.stderr.contains("warning"), "{outcome}");
}

#[test]
fn a_fleet_exports_its_merged_intervals() {
    with_hosts("a_fleet_exports_its_merged_intervals", 2, |hosts| {
        let target = fleet_hosts::target(Script::constant(Duration::from_millis(1)));
        let file = hosts.place.file("metrics.jsonl");
        let words = format!("-r 200/s -d 2s --metrics json={file}");
        let outcome = hosts.outcome(&target.url("/"), &words, &target);
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{error}: {outcome}"));
        counters_of_json(&text).expect_equal(&outcome.json());
    });
}

#[test]
fn every_level_of_a_search_is_a_run() {
    let (trial, target) = (trial(), target());
    let file = trial.place().file("metrics.jsonl");
    let words =
        "--from 50/s --to 100/s -d 300ms --warmup 0s --settle 0s --step 20% --threads 1 --format json";
    let call = trial.program().args(["search", &target.url("/"), "--threshold", "p95 < 1s"]);
    let outcome = call.args(words.split(' ')).args(["--metrics", &format!("json={file}")]).run();
    let doc = outcome.json();
    let runs = doc["runs"].as_array().expect("runs");
    let done: u64 = runs.iter().filter_map(|run| run["requests"]["done"].as_u64()).sum();
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{error}: {outcome}"));
    assert_eq!(counters_of_json(&text).get("wavetank_requests_done_total"), done, "{outcome}");
    assert_eq!(counters_of_json(&text).get("wavetank_run_info"), runs.len() as u64, "{outcome}");
    assert!(runs.len() > 1 && done > 0, "{outcome}");
}

#[test]
fn a_file_gives_phases_and_steps_their_names() {
    let (trial, target) = (trial(), target());
    let text = "wavetank: 1\ntarget: TARGET\nsteps: [{get: /, name: home}, {get: /b}]\nphases:\n\
                  - {name: first, rate: 50/s, for: 500ms}\n- {name: second, rate: 50/s, for: 500ms}\n";
    let text = text.replace("TARGET", target.url("").trim_end_matches('/'));
    let (file, lines) = (trial.place().write("x.yaml", text), trial.place().file("metrics.jsonl"));
    let outcome = trial.load(&file, ["--metrics", &format!("json={lines}")]).run();
    assert!(matches!(outcome.exit, Some(0 | 3)), "{outcome}");
    let text = std::fs::read_to_string(&lines).expect("the file is written");
    let counters = counters_of_json(&text);
    counters.expect_equal(&outcome.json());
    let sessions = outcome.json()["sessions"]["done"].as_u64();
    assert_eq!(Some(counters.get("wavetank_sessions_done_total")), sessions, "{outcome}");
    for label in ["\"phase\":\"first\"", "\"phase\":\"second\"", "\"step\":\"home\"", "\"step\":\"GET /b\""] {
        assert!(text.contains(label), "{label}: {text}");
    }
}

#[test]
fn lines_on_stdout_precede_the_result() {
    let (trial, target) = (trial(), target());
    let outcome = trial.load(&target.url("/"), LOAD.iter().chain(&["--metrics", "json=-"])).run();
    let split = outcome.stdout.find("{\n").unwrap_or_else(|| outcome.stdout.rfind("\n{").unwrap_or(0));
    let (lines, result) = outcome.stdout.split_at(split);
    let result = serde_json::from_str(result).unwrap_or_else(|error| panic!("{error}: {outcome}"));
    counters_of_json(lines).expect_equal(&result);
}

#[test]
fn a_receiver_that_is_gone_changes_nothing_but_is_reported() {
    let (trial, target) = (trial(), target());
    let port = free_port();
    let place = format!("otlp=http://me:planted-secret@127.0.0.1:{port}");
    let outcome = trial.load(&target.url("/"), LOAD.iter().chain(&["--metrics", &place])).run();
    assert!(matches!(outcome.exit, Some(0 | 3)), "{outcome}");
    let receiver = format!("otlp http://127.0.0.1:{port}/v1/metrics");
    assert!(
        outcome.stderr.contains(&format!("warning: metrics to {receiver} are being lost: ")),
        "{outcome}"
    );
    assert!(outcome.stderr.contains(&format!("warning: metrics to {receiver} lost ")), "{outcome}");
    let event = format!("metrics to {receiver} lost ");
    let report = trial.program().args(["report", "latest", "--format", "json"]).run();
    assert!(report.json().to_string().contains(&event) || archive_has(&trial, &event), "{report}");
    assert!(!archive_has(&trial, "planted-secret") && !outcome.stdout.contains("planted"), "{outcome}");
    assert!(!outcome.stderr.contains("planted"), "{outcome}");
    assert!(outcome.json()["command"].as_str().is_some_and(|command| command.contains("***@")), "{outcome}");
}

#[test]
fn a_token_of_the_environment_is_sent_and_never_shown() {
    let (trial, target) = (trial(), target());
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
    let place = format!("influx=http://{}/load", listener.local_addr().expect("it is bound"));
    let first = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut bytes = [0; 1024];
        let length = std::io::Read::read(&mut stream, &mut bytes).expect("a head");
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    });
    let words = ["-n", "10", "--metrics", &place];
    let call = trial.load(&target.url("/"), words).environment("WAVETANK_INFLUX_TOKEN", "planted-token");
    let outcome = call.run();
    let head = first.join().expect("the receiver ends").to_ascii_lowercase();
    assert!(head.contains("\r\nauthorization: token planted-token\r\n"), "{head}");
    // The receiver is gone by then, and errors say so without the token.
    assert!(outcome.stderr.contains("warning: metrics to influx"), "{outcome}");
    assert!(!archive_has(&trial, "planted") && !outcome.to_string().contains("planted"), "{outcome}");
    let words = ["-n", "10", "--metrics", &place];
    let call = trial.load(&target.url("/"), words).environment("WAVETANK_INFLUX_TOKEN", "planted\ntoken");
    let outcome = call.run();
    outcome.expect_exit(2);
    assert!(
        outcome.stdout.contains("WAVETANK_INFLUX_TOKEN") && !outcome.stdout.contains("planted"),
        "{outcome}"
    );
}

/// Whether a file of the archive contains `text`.
fn archive_has(trial: &RunHarness, text: &str) -> bool {
    let mut folders = vec![trial.place().path().join("runs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the archive is readable").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if std::fs::read(&path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(text)) {
                return true;
            }
        }
    }
    false
}

#[test]
fn what_cannot_be_opened_is_refused_before_the_load() {
    let (trial, target) = (trial(), target());
    let taken = TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
    let port = taken.local_addr().expect("it is bound").port();
    for (place, exit, code) in [
        (format!("prometheus=:{port}"), 5, "metrics_bind"),
        ("statsd=no-such-host.invalid:8125".to_owned(), 2, "metrics_name"),
        ("json=/no/such/folder/x".to_owned(), 2, "metrics_file"),
    ] {
        let outcome = trial.load(&target.url("/"), ["--metrics", &place]).run();
        outcome.expect_exit(exit);
        assert_eq!(outcome.json()["code"], code, "{outcome}");
        assert!(!outcome.json()["hint"].as_str().unwrap_or_default().is_empty(), "{outcome}");
    }
    assert_eq!(target.truth().requests, 0, "nothing is sent");
}

#[test]
fn every_metric_of_the_dashboard_is_exported() {
    let (trial, target) = (trial(), target());
    let file = trial.place().file("metrics.jsonl");
    let outcome =
        trial.load(&target.url("/"), LOAD.iter().chain(&["--metrics", &format!("json={file}")])).run();
    assert!(matches!(outcome.exit, Some(0 | 3)), "{outcome}");
    let page = |name: &str| {
        std::fs::read_to_string(format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR")))
            .expect("the page exists")
    };
    let dashboard: serde_json::Value = serde_json::from_str(&page("grafana-dashboard.json")).expect("JSON");
    let text = dashboard.to_string();
    let names: std::collections::BTreeSet<&str> = text
        .split(|char: char| !char.is_ascii_alphanumeric() && char != '_')
        .filter(|word| word.starts_with("wavetank_"))
        .map(|word| word.strip_suffix("_bucket").unwrap_or(word))
        .collect();
    assert!(names.len() > 15, "{names:?}");
    let known: Vec<String> = wavetank_metrics::ALL.iter().map(wavetank_metrics::Metric::name).collect();
    for name in names {
        assert!(known.iter().any(|known| known == name), "no metric is called {name}");
    }
    // The page describes each metric, some by the end of its name.
    let described = page("metrics.md");
    for name in known {
        let end = |parts: usize| name.rsplitn(parts + 1, '_').take(parts).collect::<Vec<_>>();
        let ends = (1..6).map(|parts| {
            let mut words = end(parts);
            words.reverse();
            format!("`_{}`", words.join("_"))
        });
        let found =
            described.contains(&format!("`{name}`")) || ends.into_iter().any(|end| described.contains(&end));
        assert!(found, "docs/metrics.md lacks {name}");
    }
}

#[test]
fn help_and_errors_name_the_kinds() {
    let help = Program::new(env!("CARGO_BIN_EXE_wavetank")).args(["run", "--help"]).run();
    for kind in ["prometheus=", "prometheus-write=", "otlp=", "otlp-proto=", "influx=", "statsd=", "json="] {
        assert!(help.stdout.contains(kind), "{help}");
    }
}
