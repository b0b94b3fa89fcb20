//! Held connections end to end: the counts of the run, the kernel and the target for the same
//! second.

use std::sync::atomic::{AtomicU64, Ordering};

use wavetank_testkit::netns::NetNs;
use wavetank_testkit::{
    Outcome, ReceivedRequest, RunHarness, Script, ScriptAction, Serve, Target, TimingMismatch, answer,
    expect_time, free_port, retry_timing,
};

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

/// An experiment that opens `count` connections in a second, keeps them for `keep` seconds and
/// closes them in a second. Each sends one request per `think`.
fn hold(url: &str, count: u64, keep: u64, think: &str) -> String {
    format!(
        "wavetank: 1\nname: holds\ntarget: {url}\nsources: [127.1.0.0/24]\nsteps: [{{get: /}}, {{think: {think}}}]\n\
         phases:\n  - {{name: open, hold: 0 to {count}, at: {count}/s}}\n  - {{name: keep, hold: {count}, for: {keep}s}}\n  \
         - {{name: close, hold: {count} to 0, at: {count}/s}}\n"
    )
}

/// A run that this machine has delayed reports itself as invalid, which is correct.
fn expect_valid(outcome: &Outcome) -> Result<(), TimingMismatch> {
    let verdict = &outcome.json()["verdict"];
    let is_late = verdict["status"] == "invalid" && verdict["blame"] == "generator";
    expect_time(!is_late, || format!("the run reports itself as invalid\n{outcome}"))
}

/// Returns the lines of an archive's file as JSON.
fn lines(trial: &RunHarness, file: &str) -> Vec<serde_json::Value> {
    let path = trial.place().runs("runs")[0].join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Whether a line is in the plateau `[from, until]` in seconds, during which the number of
/// connections is constant.
fn in_plateau(line: &serde_json::Value, from: i64, until: i64) -> bool {
    // A sample within a tenth of a second of the seal belongs to that second.
    let at = line["at_ns"].as_i64().expect("an instant");
    (from * 1_000_000_000 + 100_000_000..until * 1_000_000_000 - 100_000_000).contains(&at)
}

#[test]
fn run_and_target_agree_on_every_second() {
    retry_timing(hold_and_compare);
}

fn hold_and_compare() -> Result<(), TimingMismatch> {
    let trial = trial();
    let serve = Serve::start(&trial.program(), &["--connections", "3000"]);
    let file = trial.place().write("hold.yaml", hold(&serve.url(""), 2_000, 4, "1s"));
    let outcome =
        trial.load::<&str>(&file, ["--threshold", "held >= 2k in keep", "--threshold", "lost = 0"]).run();
    let result = outcome.json();
    let held = &result["held"][0];
    // A busy machine does not open all of them within a second.
    let in_time = held["lowest"] == 2_000 && outcome.exit == Some(0);
    expect_time(in_time, || format!("the plateau began late: {outcome}"))?;
    assert_eq!(
        (&held["planned"], &held["lowest"], &held["seconds"], &held["lost"]),
        (&2_000.into(), &2_000.into(), &4.into(), &0.into()),
        "{outcome}"
    );
    expect_time(!held["target"].is_null(), || format!("the target was asked late: {held}"))?;
    assert_eq!(
        (&held["target"]["open"], &held["target"]["accepted"]),
        (&2_000.into(), &2_000.into()),
        "{held}"
    );
    let connections = &result["connections"];
    assert_eq!((&connections["opened"], &connections["closed"]), (&2_000.into(), &2_000.into()), "{outcome}");
    // The plateau lasts from 1 s to 5 s.
    let reported: Vec<_> =
        lines(&trial, "truth.jsonl").into_iter().filter(|line| in_plateau(line, 1, 5)).collect();
    assert!(reported.len() >= 2, "{reported:?}");
    assert!(reported.iter().all(|line| line["open"] == 2_000 && line["error_ns"] == 0), "{reported:?}");
    // The requests for the target's count appear in no count of the run or the target.
    assert_eq!(result["setup"]["sent"], 0, "{outcome}");
    let text = trial.program().args(["report", "latest", "--format", "text"]).run();
    let first = "PASS  2,000 connections held for 4 s, 0 lost";
    assert!(text.stdout.starts_with(first) && text.stdout.contains("target counted 2,000 ("), "{text}");
    Ok(())
}

/// The kernel counts the whole network namespace, so this run has its own.
#[test]
fn the_kernel_counts_both_ends() {
    let test = "the_kernel_counts_both_ends";
    if !NetNs::available(test) {
        return;
    }
    retry_timing(count_both_ends);
}

fn count_both_ends() -> Result<(), TimingMismatch> {
    let trial = trial();
    let file = trial.place().write("hold.yaml", hold("http://127.0.0.1:8080", 2_000, 3, "1s"));
    let script = format!(
        "ip link set lo up; \"$0\" serve --connections 3000 >serve.log 2>&1 & serve=$!; \
         until \"$0\" try {file} >/dev/null 2>&1; do :; done; \
         \"$0\" run {file} --format json; code=$?; kill $serve; wait $serve; exit $code"
    );
    let shell = NetNs::shell(&trial.program().arguments()[0], &script).in_folder(trial.place().path());
    let outcome = shell.run();
    expect_valid(&outcome)?;
    let result = outcome.expect_exit(0).json();
    let held = &result["held"][0];
    expect_time(held["lowest"] == 2_000, || format!("the plateau began late: {held}"))?;
    let kernel = &held["kernel"];
    let count = |key: &str| kernel[key].as_u64().unwrap_or_else(|| panic!("{key}: {kernel}"));
    // The kernel counts orphans of the whole machine, so other programs have some.
    assert_eq!(count("tcp_tw"), 0, "{kernel}");
    assert_eq!(count("tcp_inuse") - count("tcp_inuse_before") - count("tcp_asking"), 4_000, "{kernel}");
    for line in lines(&trial, "hosts/local.jsonl").iter().filter(|line| in_plateau(line, 1, 4)) {
        let same = line["tcp"]["inuse"].as_u64() == Some(count("tcp_inuse"));
        expect_time(same, || format!("not as in the result: {line}"))?;
    }
    Ok(())
}

/// The target breaks seven connections at their second request, two seconds into the run.
#[test]
fn what_a_target_drops_is_lost_and_opened_again() {
    let dropped = 7;
    let broken_so_far = AtomicU64::new(0);
    let play = move |seen: &ReceivedRequest| {
        let broken = seen.on_connection == 2 && broken_so_far.fetch_add(1, Ordering::Relaxed) < dropped;
        vec![if broken { ScriptAction::Reset } else { ScriptAction::Send(answer(200, b"hello\n")) }]
    };
    let (trial, target) = (trial(), Target::start(Script::new(play)));
    let file = trial.place().write("hold.yaml", hold(&target.url(""), 100, 4, "2s"));
    let outcome = trial.load::<&str>(&file, ["--threshold", "lost < 10%"]).run();
    let result = outcome.json();
    let (connections, held) = (&result["connections"], &result["held"][0]);
    assert_eq!(
        (&connections["lost"], &connections["reopened"]),
        (&dropped.into(), &dropped.into()),
        "{outcome}"
    );
    assert_eq!(
        (&connections["opened"], &connections["open"]),
        (&(100 + dropped).into(), &0.into()),
        "{outcome}"
    );
    let lowest = held["lowest"].as_u64().expect("a count");
    assert!((100 - dropped..=100).contains(&lowest), "{held}");
    assert_eq!(held["target"], serde_json::Value::Null, "it reports no count: {held}");
    // It received one request for its count, which no other count includes.
    assert_eq!((&result["setup"]["sent"], &result["setup"]["done"]), (&1.into(), &1.into()), "{outcome}");
    assert_eq!(target.settled().requests, result["wire"]["sent"].as_u64().expect("a count") + 1, "{outcome}");
}

/// A server other than `wavetank serve` receives no request for its count if the user disables it.
#[test]
fn a_target_is_not_asked_against_the_users_word() {
    let (trial, target) =
        (trial(), Target::start(Script::new(|_| vec![ScriptAction::Send(answer(200, b"hello\n"))])));
    let file = trial.place().write("hold.yaml", hold(&target.url(""), 20, 1, "500ms"));
    let run = |words: &[&str]| {
        target.reset();
        let result = trial.load(&file, words.iter().copied()).run().expect_exit(0).json();
        let wire = result["wire"]["sent"].as_u64().expect("a count");
        (target.settled().requests - wire, result["setup"]["sent"].as_u64().expect("a count"))
    };
    assert_eq!(run(&[]), (1, 1));
    assert_eq!(run(&["--truth"]), (1, 1));
    assert_eq!(run(&["--no-truth"]), (0, 0));
}

#[test]
fn progress_shows_held_connections() {
    let trial = trial();
    let serve = Serve::start(&trial.program(), &[]);
    let silent = hold(&serve.url(""), 50, 10, "1s").replace("steps: [{get: /}, {think: 1s}]", "steps: []");
    let file = trial.place().write("hold.yaml", silent);
    let outcome = trial.load::<&str>(&file, []).run();
    let line = outcome.expect_exit(0).stderr.lines().find(|line| line.trim_start().starts_with("10 s"));
    let line = line.unwrap_or_else(|| panic!("{outcome}"));
    assert_eq!(line, "10 s  held 50 of 50  opened      0/s  lost 0", "{outcome}");
}

/// Runs a hold of connections to `url` that cannot be opened. The report names the class, blames
/// the target and counts the class.
fn check_unopened(url: &str, class: &str, text: &str) -> Result<(), TimingMismatch> {
    let trial = trial();
    let content = format!(
        "wavetank: 1\ntarget: {url}\nphases:\n  - {{name: keep, hold: 20, for: 2s}}\nthresholds: [held >= 20]\n"
    );
    let file = trial.place().write("hold.yaml", content);
    let outcome = trial.load::<&str>(&file, ["--no-probe"]).run();
    expect_valid(&outcome)?;
    let result = outcome.json();
    let failed = result["connections"]["failed"].as_u64().expect("a count");
    assert!(failed >= 20, "{outcome}");
    assert_eq!(result["connections_failed_by"], serde_json::json!({ class: failed }), "{outcome}");
    assert_eq!(result["verdict"]["blame"], "target", "{outcome}");
    let findings = result["findings"].as_array().expect("a list");
    let finding = findings.iter().find(|finding| finding["code"] == class);
    let message = finding.map(|finding| finding["message"].as_str().unwrap_or_default().to_owned());
    assert_eq!(message.as_deref(), Some(format!("{failed} connections were not opened: {text}").as_str()));
    let lines = lines(&trial, "intervals/local.jsonl");
    let lines = lines.iter().filter(|line| line["checkpoint"] != true);
    let stored: u64 = lines.filter_map(|line| line["conns"]["failed_by"][class].as_u64()).sum();
    assert_eq!(stored, failed, "every second names the class");
    Ok(())
}

#[test]
fn connections_that_cannot_be_opened_have_a_reason() {
    let refused = format!("http://127.0.0.1:{}", free_port());
    retry_timing(|| check_unopened(&refused, "connect_refused", "connection refused"));
    let serve = Serve::start(&trial().program(), &[]);
    let none = serve.url("/none").replace("http:", "ws:");
    retry_timing(|| check_unopened(&none, "status", "unexpected response status"));
}
