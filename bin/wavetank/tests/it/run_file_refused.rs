//! Requests of a file that this host or its owner must reject: exit 5, and nothing is sent. Also
//! the TLS settings of a file from the command line.

use std::time::Duration;

use wavetank_testkit::{Program, RunHarness, Script, Serve, Target, skip};

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

/// Checks for exit 5 with all `codes`, as text and as JSON, and no archive. `prefix` is the command
/// that starts the program.
#[track_caller]
fn refused(text: &str, words: &[&str], prefix: &[&str], codes: &[&str], mention: &str) {
    let trial = trial();
    let file = trial.place().write("x.yaml", text);
    let program = || {
        let program = trial.program().environment("WAVETANK_MASK", "uring,unshare,own_process");
        let program = program.args(["run", &file]).args(words);
        if prefix.is_empty() { program } else { program.under(prefix) }
    };
    let reported = program().run();
    reported.expect_exit(5);
    let lines = |start: &str| reported.stderr.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!((lines("error: "), lines("hint: ")), (codes.len(), codes.len()), "{reported}");
    assert!(reported.stderr.contains(mention), "{mention}: {reported}");
    let json = program().args(["--format", "json"]);
    let json = json.run();
    json.expect_exit(5);
    let error = json.json();
    assert_eq!(error["code"], codes[0], "{json}");
    let all = error["lacking"].as_array();
    let all: Vec<_> = all.into_iter().flatten().filter_map(|one| one["code"].as_str()).collect();
    assert_eq!(all, if codes.len() > 1 { codes } else { &[] }, "a single one has no list: {json}");
    assert!(trial.place().runs("runs").is_empty(), "no archive without a run");
}

/// `io/runner` tests every place that can name a target.
#[test]
fn a_public_target_is_refused() {
    let target = Target::start(Script::constant(Duration::ZERO));
    let text = format!(
        "wavetank: 1\ntarget: {}\nsteps: [{{get: /}}]\nphases: [{{users: 1, for: 1s}}]\n",
        target.url("/")
    );
    let words = ["--target", "http://192.0.2.1/"];
    refused(&text, &words, &[], &["target_not_allowed"], "--allow-target 192.0.2.1");
    assert_eq!(target.truth().connections, 0, "nothing is sent");
}

#[test]
fn what_this_host_has_not_got_is_said_before_anything_is_sent() {
    let target = Target::start(Script::constant(Duration::ZERO));
    let file = |phase: &str| {
        let here = target.url("/");
        format!("wavetank: 1\ntarget: {here}\nsteps: [{{get: /}}]\nphases: [{phase}]\n")
    };
    refused(
        &file("{hold: 0 to 900M, at: 100M/s}"),
        &[],
        &[],
        &["no_files", "no_source_address", "no_memory"],
        "900,000,000 connections",
    );
    if Program::foreign("prlimit").is_none() {
        return skip(
            "what_this_host_has_not_got_is_said_before_anything_is_sent",
            "`prlimit` is not installed",
        );
    }
    let few = ["prlimit", "--nofile=128:128"];
    refused(&file("{users: 4000, for: 1s}"), &[], &few, &["no_files"], "128");
    assert_eq!(target.truth().connections, 0, "nothing is sent");
}

#[test]
fn the_certificates_to_trust_may_come_from_the_command_line() {
    let trial = trial();
    let ca = trial.place().file("given-ca.pem");
    let serve = Serve::start(&trial.program(), &["--tls", "--tls-cert-out", &ca]);
    let url = format!("https://{}", serve.address());
    let text = format!(
        "wavetank: 1\ntarget: {url}\nsteps: [{{get: /}}]\nphases: [{{users: 1, for: 20s, sessions: 5}}]\n"
    );
    let file = trial.place().write("x.yaml", &text);
    // The name is relative to the current folder, which is not the file's folder.
    std::fs::create_dir(trial.place().file("below")).expect("a folder can be made");
    let below = trial.place().write("below/y.yaml", &text);
    for (file, words) in [(&file, ["--cacert", &ca]), (&below, ["--cacert", "given-ca.pem"])] {
        let outcome = trial.load(file, words).run();
        outcome.expect_exit(0);
        let result = outcome.result();
        assert_eq!(result.count("requests.done"), 5, "{result}");
    }
    let distrusted = trial.load(&file, [""; 0]).run();
    assert_ne!(distrusted.exit, Some(0), "no CA vouches for it: {distrusted}");
    let taken = trial.load(&file, ["--insecure"]).run();
    taken.expect_exit(0);
}
