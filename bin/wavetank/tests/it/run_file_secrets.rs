//! Secrets of an experiment file reach the target and nothing else.

use wavetank_testkit::{Outcome, RunHarness, Script, ScriptAction, Target, answer};

/// A file with a secret in every place that allows one.
const FILE: &str = "\
wavetank: 1
name: x
target: TARGET
redact: [x-shown-nowhere, pin]
vars: {pin: none}
http:
  headers:
    x-token: \"${secret:TOKEN}\"
    x-shown-nowhere: planted-header
  auth: \"basic me:${secret:PASSWORD}\"
scenarios:
  one:
    weight: 1
    before:
      - post: /login
        form: {password: \"${secret:PASSWORD}\"}
    steps:
      - get: \"/a?token=${secret:TOKEN}\"
      - post: /b
        json: {pin: \"${pin}\", both: \"p${pin}-${secret:TOKEN}\"}
        auth: bearer ${secret:TOKEN}
        check: [\"header x-never = ${secret:TOKEN}\"]
      - post: \"/c/${pin}\"
        headers: {x-sign: \"${base64(secret:TOKEN)}\"}
        body: \"${secret:PASSWORD}\"
phases:
  - {users: 2, for: 20s, sessions: 8}
";

/// `planted-token` and `me:planted-password` are sent in base64.
const SECRETS: [&str; 6] = [
    "planted-token",
    "planted-password",
    "planted-pin",
    "planted-header",
    "cGxhbnRlZC10b2tlbg==",
    "bWU6cGxhbnRlZC1wYXNzd29yZA==",
];

#[track_caller]
fn check_hidden(trial: &RunHarness, outcomes: &[Outcome]) {
    let given = |path: &std::path::Path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("given"))
    };
    let files: Vec<_> = trial.place().all_files().into_iter().filter(|path| !given(path)).collect();
    assert!(files.len() >= 8, "archives and results have more than {files:?}");
    for secret in SECRETS {
        for path in &files {
            let bytes = std::fs::read(path).expect("an artefact can be read");
            let text = String::from_utf8_lossy(&bytes).into_owned();
            assert!(!text.contains(secret), "{secret} is in {}\n{text}", path.display());
        }
        for outcome in outcomes {
            assert!(!outcome.stdout.contains(secret), "{secret} on stdout: {outcome}");
            assert!(!outcome.stderr.contains(secret), "{secret} on stderr: {outcome}");
        }
    }
}

#[test]
fn secrets_of_a_file_are_in_no_artefact() {
    // Half of the responses are errors, so that samples of failures are stored.
    let target = Target::start(Script::new(|seen| {
        vec![ScriptAction::Send(answer(if seen.number % 2 == 0 { 500 } else { 200 }, b"hello"))]
    }));
    let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    let text = FILE.replace("TARGET", target.url("").trim_end_matches('/'));
    let file = trial.place().write("given.yaml", text);
    let token = format!("TOKEN=@{}", trial.place().write("given-token", "planted-token\n"));
    let words = ["run", &file, "--secret", &token, "--set", "pin=planted-pin"];
    let mut outcomes = Vec::new();
    for (format, suffix) in [("json", "json"), ("text", "txt"), ("junit", "xml")] {
        let out = trial.place().file(&format!("result.{suffix}"));
        let run = trial.program().environment("WAVETANK_SECRET_PASSWORD", "planted-password");
        let outcome = run.args(words).args(["--format", format, "--out", &out]).run();
        outcome.expect_exit(1);
        outcomes.push(outcome);
    }
    for format in ["json", "text"] {
        outcomes.push(trial.program().args(["report", "latest", "--format", format]).run());
    }
    // The message about another mistake must not contain the secrets.
    outcomes.push(trial.program().args(words).args(["--threshold", "p99(absent) < 1s"]).run());
    assert!(target.truth().requests > 30, "{:?}", target.truth());
    check_hidden(&trial, &outcomes);
}

#[test]
fn they_do_reach_the_target() {
    let target = Target::start(Script::new(|seen| {
        let known = seen.field("x-token") == Some("planted-token")
            && seen.field("authorization") == Some("Basic bWU6cGxhbnRlZC1wYXNzd29yZA==")
            && seen.field("x-own") == Some("planted-pin");
        vec![ScriptAction::Send(answer(if known { 200 } else { 401 }, b""))]
    }));
    let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    let text = "wavetank: 1\ntarget: TARGET\nredact: [pin]\nvars: {pin: none}\nhttp: {auth: \"basic me:${secret:PASSWORD}\"}\n\
                steps: [{get: /, headers: {x-token: \"${secret:TOKEN}\", x-own: \"${pin}\"}}]\n\
                phases: [{users: 1, for: 20s, sessions: 5}]\n";
    let file =
        trial.place().write("given.yaml", text.replace("TARGET", target.url("").trim_end_matches('/')));
    let token = format!("TOKEN=@{}", trial.place().write("given-token", "planted-token\n"));
    let program = trial.load(&file, ["--secret", &token, "--set", "pin=planted-pin"]);
    let outcome = program.environment("WAVETANK_SECRET_PASSWORD", "planted-password").run();
    let result = trial.check(&outcome, &target, 0);
    assert_eq!(result.count("requests.done"), 5, "{result}");
    let plan = trial.place().runs("runs").pop().expect("an archive").join("plan.yaml");
    let plan = std::fs::read_to_string(plan).expect("a plan");
    assert!(plan.contains("x-token: ***") && plan.contains("x-own: ***"), "{plan}");
}
