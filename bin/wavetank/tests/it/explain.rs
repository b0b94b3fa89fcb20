//! `wavetank explain`: every code is explained, from each place that shows codes.

use wavetank_testkit::{Outcome, Program};

fn wavetank(words: &[&str]) -> Outcome {
    Program::new(env!("CARGO_BIN_EXE_wavetank")).args(words).run()
}

/// Returns the code in brackets after the message of an error.
fn code_in(reported: &Outcome) -> String {
    let line = reported.stderr.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
    line.rsplit_once(" [").map(|(_, code)| code.trim_end_matches(']').to_owned()).unwrap_or_default()
}

#[test]
fn an_error_shows_its_code_and_explain_knows_it() {
    for (words, code) in [
        (&["run", "localhost:8080", "-d", "30"][..], "unit_missing"),
        (&["run", "localhost:8080", "--connections"], "value_missing"),
        (&["report", "latest", "--runs-dir", "/no/such/folder"], "run_unknown"),
        (&["runs", "prune"], "prune_what"),
        (&["check", "/no/such/file.yaml"], "bad_file"),
        (&["explain", "latte"], "code_unknown"),
    ] {
        let reported = wavetank(words);
        assert_eq!((reported.exit, code_in(&reported).as_str()), (Some(2), code), "{reported}");
        let explained = wavetank(&["explain", code]);
        explained.expect_exit(0);
        assert!(explained.stdout.starts_with(&format!("{code}: ")), "{explained}");
        assert_eq!(explained.stderr, "", "{explained}");
    }
}

#[test]
fn what_is_no_code_is_one_line_with_a_way_on() {
    for (word, hint) in [
        ("latte", "did you mean late?"),
        ("", "wavetank explain"),
        ("🦀", "wavetank explain"),
        ("\u{1b}[2J", "wavetank explain"),
        (&"x".repeat(100_000), "wavetank explain"),
    ] {
        let reported = wavetank(&["explain", word]);
        reported.expect_exit(2);
        assert_eq!((reported.stdout.as_str(), reported.stderr.lines().count()), ("", 2), "{word:.20}");
        assert!(reported.stderr.lines().nth(1).is_some_and(|line| line.contains(hint)), "{word:.20}: {hint}");
        assert!(!reported.stderr.contains('\u{1b}') && reported.stderr.len() < 1_000, "{word:.20}");
    }
    let reported = wavetank(&["explain", "late", "latte"]);
    assert_eq!((reported.exit, reported.stdout.as_str()), (Some(2), ""), "all or nothing: {reported}");
    assert_eq!(wavetank(&["explain", "late", "--format", "xml"]).exit, Some(2));
}

#[test]
fn json_is_one_object_and_holds_everything() {
    let all = wavetank(&["explain", "--format", "json"]).json();
    let codes = all["codes"].as_array().expect("a list").len();
    assert!(all["schema"] == "wavetank.explain/1" && codes > 300, "{codes}");
    let one = wavetank(&["explain", "invalid", "late", "late", "--format", "json"]).json();
    let found: Vec<_> =
        one["codes"].as_array().expect("a list").iter().map(|it| it["code"].clone()).collect();
    assert_eq!(found, ["3", "late", "late"], "the finding and the term, none of them twice");
    assert!(one["codes"][0]["do"].as_str().is_some_and(|act| !act.is_empty()));
    let wrong = wavetank(&["explain", "latte", "--format", "json"]);
    assert_eq!((wrong.exit, wrong.json()["code"].clone()), (Some(2), "code_unknown".into()));
}
