//! Truth suite: a secret reaches the target and nothing else.

use wavetank_testkit::{Outcome, RunHarness, Script, ScriptAction, Target, answer};

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

/// Panics if any of `secrets` appears in the output or in any file below the trial's folder. Files
/// with a name that starts with `given` are exempt, since the user wrote them.
#[track_caller]
fn check_hidden(trial: &RunHarness, outcomes: &[Outcome], secrets: &[&str]) {
    let mut looked_at = 0;
    for path in trial.place().all_files() {
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("given")) {
            continue;
        }
        looked_at += 1;
        let bytes = std::fs::read(&path).expect("an artefact can be read");
        let text = String::from_utf8_lossy(&bytes).into_owned();
        for secret in secrets {
            assert!(!text.contains(secret), "{secret} is in {}", path.display());
        }
    }
    assert!(looked_at >= 4, "an archive has more than {looked_at} files");
    for outcome in outcomes {
        for secret in secrets {
            assert!(!outcome.stdout.contains(secret), "{secret} on stdout: {outcome}");
            assert!(!outcome.stderr.contains(secret), "{secret} on stderr: {outcome}");
        }
    }
}

/// Starts a target that responds with 200 if the field has this value, else with 401. Failures are
/// stored as samples.
fn door(field: &'static str, value: &'static str) -> Target {
    Target::start(Script::new(move |seen| {
        let known = seen.field(field) == Some(value);
        // A third of the responses are errors, so that samples of failures are stored, and they
        // echo the secret.
        let status = if !known {
            401
        } else if seen.number % 3 == 0 {
            500
        } else {
            200
        };
        vec![ScriptAction::Send(answer(status, b"hello"))]
    }))
}

/// Runs with `words` in every format and searches all output and files.
#[track_caller]
fn check(target: &Target, words: &[&str], secrets: &[&str], trial: &RunHarness) {
    let mut outcomes = Vec::new();
    for (format, suffix) in [("json", "json"), ("text", "txt"), ("junit", "xml")] {
        let out = trial.place().file(&format!("result.{suffix}"));
        let run = trial.program().args(["run", &target.url("/"), "-c", "2", "-n", "30", "--format", format]);
        let outcome = run.args(["--out", &out]).args(words).run();
        outcome.expect_exit(1);
        outcomes.push(outcome);
    }
    outcomes.push(trial.program().args(["run", &target.url("/"), "--once"]).args(words).run());
    for format in ["json", "text"] {
        outcomes.push(trial.program().args(["report", "latest", "--format", format]).run());
    }
    // The message about another mistake must not contain the secret.
    outcomes.push(trial.program().args(["run", &target.url("/"), "-d", "never"]).args(words).run());
    let truth = target.truth();
    assert!(!truth.by_status.contains_key(&401), "the target received the secret: {:?}", truth.by_status);
    assert!(truth.by_status[&200] >= 30, "{:?}", truth.by_status);
    check_hidden(trial, &outcomes, secrets);
}

#[test]
fn an_authorization_field_is_hidden() {
    let target = door("authorization", "Bearer planted-secret-one");
    check(&target, &["-H", "Authorization: Bearer planted-secret-one"], &["planted-secret-one"], &trial());
}

#[test]
fn a_cookie_is_hidden_in_any_spelling() {
    let target = door("cookie", "session=planted-secret-two");
    check(&target, &["-H", "cOOkie:session=planted-secret-two"], &["planted-secret-two"], &trial());
}

#[test]
fn basic_credentials_are_hidden() {
    // "planted-user:planted-secret-three" in base64 (RFC 7617).
    let encoded = "cGxhbnRlZC11c2VyOnBsYW50ZWQtc2VjcmV0LXRocmVl";
    let target = door("authorization", "Basic cGxhbnRlZC11c2VyOnBsYW50ZWQtc2VjcmV0LXRocmVl");
    let secrets = ["planted-secret-three", encoded];
    check(&target, &["--basic", "planted-user:planted-secret-three"], &secrets, &trial());
    let trial = trial();
    let file = trial.place().write("given", "planted-user:planted-secret-three\n");
    check(&target, &["--basic", &format!("@{file}")], &secrets, &trial);
}

#[test]
fn fields_from_a_file_are_hidden() {
    let target = door("proxy-authorization", "Token planted-secret-four");
    let trial = trial();
    let file = trial.place().write("given", "Proxy-Authorization: Token planted-secret-four\nX-Open: yes\n");
    check(&target, &["-H", &format!("@{file}")], &["planted-secret-four"], &trial);
}

#[test]
fn a_password_in_the_url_is_hidden() {
    let target = door("host", "never");
    let trial = trial();
    let url = format!("http://planted-user:planted-secret-five@{}/", target.address());
    let outcome = trial.program().args(["run", &url, "-n", "3"]).run();
    for text in [&outcome.stdout, &outcome.stderr] {
        assert!(
            !text.contains("planted-secret-five"),
            "{}",
            text.replace("planted-secret-five", "(the secret)")
        );
    }
    for path in trial.place().all_files() {
        let text = String::from_utf8_lossy(&std::fs::read(&path).expect("readable")).into_owned();
        assert!(!text.contains("planted-secret-five"), "{}", path.display());
    }
}
