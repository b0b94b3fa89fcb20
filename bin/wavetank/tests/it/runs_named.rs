//! Names of runs and searches, with the binary: every command that takes a run treats them alike.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use wavetank_testkit::{Outcome, RunHarness, Script, Target};

/// Creates a trial with one run in its `runs`, and the target that it loaded.
fn with_run() -> (RunHarness, Target, PathBuf) {
    let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    let target = Target::start(Script::constant(Duration::ZERO));
    trial.load(&target.url("/"), ["-c", "1", "-n", "20", "--quiet"]).run().expect_exit(0);
    let run = trial.place().runs("runs").pop().expect("the run has its archive");
    (trial, target, run)
}

/// Runs every command that takes a run, with `word` as its name.
fn commands(trial: &RunHarness, url: &str, word: &str) -> Vec<(&'static str, Outcome)> {
    let run = |words: &[&str]| trial.program().args(words).run();
    vec![
        ("report", run(&["report", word])),
        ("compare", run(&["compare", word, "latest"])),
        ("show", run(&["runs", "show", word])),
        ("pack", run(&["runs", "pack", word])),
        ("baseline", run(&["run", url, "-c", "1", "-n", "5", "--quiet", "--baseline", word])),
    ]
}

fn search(runs: &Path, name: &str) -> PathBuf {
    let folder = runs.join(name);
    fs::create_dir_all(folder.join("runs")).expect("the test's own folder is writable");
    folder
}

/// Checks for one `error:` line with this text, one `hint:` line, exit 2, and nothing on stdout.
#[track_caller]
fn check_refused(outcome: &Outcome, what: &str, says: &str, hints: &str) {
    outcome.expect_exit(2);
    let line =
        |prefix: &str| outcome.stderr.lines().find(|line| line.starts_with(prefix)).unwrap_or_default();
    assert_eq!((outcome.stderr.lines().count(), outcome.stdout.as_str()), (2, ""), "{what}: {outcome}");
    assert!(line("error:").contains(says), "{what}, `{says}`: {outcome}");
    assert!(line("hint:").contains(hints), "{what}, `{hints}`: {outcome}");
}

#[test]
fn copies_take_no_name_from_a_run() {
    let (trial, target, run) = with_run();
    let name = run.file_name().expect("a name").to_string_lossy().into_owned();
    let id = name.rsplit('-').next().expect("an id").to_owned();
    for suffix in [".bak", "-copy"] {
        let copy = run.with_file_name(format!("{name}{suffix}"));
        fs::create_dir(&copy).expect("the test's own folder is writable");
        for file in ["plan.yaml", "environment.json"] {
            fs::copy(run.join(file), copy.join(file)).expect("the test's own folder is writable");
        }
    }
    for word in [&id, &name] {
        let shown = trial.program().args(["runs", "show", word, "--format", "json"]).run();
        assert_eq!(shown.expect_exit(0).json()["run"]["folder"], name.as_str(), "{word}: {shown}");
        trial.program().args(["report", word]).run().expect_exit(0);
        let same = trial.program().args(["compare", word, word]).run();
        check_refused(&same, word, "is named twice", "name each run once");
        let out = format!("{word}.pack");
        trial.program().args(["runs", "pack", word, "--out", &out]).run().expect_exit(0);
        let words = ["-c", "1", "-n", "5", "--quiet", "--baseline", word];
        let alongside = trial.load(&target.url("/"), words).run();
        assert!(!alongside.stderr.contains("fits"), "{word}: {alongside}");
    }
    for (what, outcome) in commands(&trial, &target.url("/"), &id[..5]) {
        check_refused(
            &outcome,
            what,
            &format!("`{}` matches 2 runs", &id[..5]),
            &format!("`{id}`, `{id}.bak`"),
        );
    }
}

#[test]
fn a_run_and_a_search_are_reported_together() {
    let (trial, target, run) = with_run();
    let runs = run.parent().expect("a folder").to_owned();
    let name = run.file_name().expect("a name").to_string_lossy().into_owned();
    let id = name.rsplit('-').next().expect("an id").to_owned();
    let other = format!("{}zz", &id[..4]);
    let folder = search(&runs, &format!("20261121T190000Z-knee-{other}"));
    fs::write(folder.join("search.json"), "{}").expect("the test's own folder is writable");
    for (what, outcome) in commands(&trial, &target.url("/"), &id[..4]) {
        let says = format!("`{}` matches 1 run and 1 search", &id[..4]);
        check_refused(&outcome, what, &says, &format!("write more of the id: run `{id}`, search `{other}`"));
    }
}

#[test]
fn a_search_is_no_run_by_whatever_name() {
    let (trial, target, run) = with_run();
    let runs = run.parent().expect("a folder").to_owned();
    let before = target.settled().requests;
    let folder = search(&runs, "20261121T190000Z-knee-zz00");
    fs::write(folder.join("search.json"), "{}").expect("the test's own folder is writable");
    for word in ["zz00", "20261121T190000Z-knee", "runs/20261121T190000Z-knee-zz00"] {
        for (what, outcome) in commands(&trial, &target.url("/"), word) {
            if what == "report" {
                check_refused(&outcome, what, "search.json`: ", "its runs can still be shown");
            } else {
                check_refused(&outcome, what, "is a search, not a run", "its runs: wavetank runs --runs-dir");
            }
        }
    }
    // A search that was killed before its first answer has only its runs.
    fs::remove_file(folder.join("search.json")).expect("the test's own folder is writable");
    for word in ["zz00", "runs/20261121T190000Z-knee-zz00"] {
        for (what, outcome) in commands(&trial, &target.url("/"), word) {
            let hint = "wavetank runs --runs-dir 'runs/20261121T190000Z-knee-zz00/runs'";
            check_refused(&outcome, what, "is a search that was interrupted before its first answer", hint);
        }
    }
    assert_eq!(target.settled().requests, before, "nothing was sent");
}
