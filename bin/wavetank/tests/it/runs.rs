//! `wavetank runs`, with the binary: the list, the details, removing and packing, and the errors of
//! each.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use wavetank_testkit::{Outcome, RunHarness, Script, Target};

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

/// Creates a trial with one run for each of `names` in its `runs`.
fn with_runs(names: &[&str]) -> (RunHarness, Vec<PathBuf>) {
    let (trial, target) = (trial(), Target::start(Script::constant(Duration::ZERO)));
    let folder = |name: &&str| {
        let before = trial.place().runs("runs");
        let label = format!("build={name}");
        let words = ["-c", "1", "-n", "20", "--name", name, "--tag", &label, "--quiet"];
        trial.load(&target.url("/"), words).run().expect_exit(0);
        let new = trial.place().runs("runs").into_iter().find(|run| !before.contains(run));
        new.expect("the run has its archive")
    };
    let folders = names.iter().map(folder).collect();
    (trial, folders)
}

fn runs(trial: &RunHarness, words: &[&str]) -> Outcome {
    trial.program().args(["runs"]).args(words).run()
}

/// Checks for one `error:` line, one `hint:` line, exit 2, and nothing on stdout.
#[track_caller]
fn check_refused(outcome: &Outcome, says: &str) {
    outcome.expect_exit(2);
    let lines = |prefix: &str| outcome.stderr.lines().filter(|line| line.starts_with(prefix)).count();
    assert_eq!((lines("error:"), lines("hint:"), outcome.stderr.lines().count()), (1, 1, 2), "{outcome}");
    assert!(outcome.stderr.contains(says), "`{says}`: {outcome}");
    assert_eq!(outcome.stdout, "", "{outcome}");
}

fn names(outcome: &Outcome) -> Vec<String> {
    let doc = outcome.expect_exit(0).json();
    assert_eq!(doc["schema"], "wavetank.runs/1", "{outcome}");
    let runs = doc["runs"].as_array().expect("a list").clone();
    runs.iter().map(|run| run["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn a_list_has_what_was_asked_for() {
    let (trial, folders) = with_runs(&["shop", "shop-two", "other"]);
    fs::remove_file(folders[1].join("run.json")).expect("the test's own folder is writable");
    let check = |words: &[&str], expected: &[&str]| {
        let words: Vec<_> = words.iter().chain(&["--format", "json"]).copied().collect();
        assert_eq!(names(&runs(&trial, &words)), expected, "{words:?}");
    };
    check(&[], &["shop", "shop-two", "other"]);
    check(&["list"], &["shop", "shop-two", "other"]);
    check(&["--name", "shop"], &["shop", "shop-two"]);
    check(&["list", "-n", "1"], &["other"]);
    check(&["--status", "unfinished"], &["shop-two"]);
    check(&["--status", "pass", "--status", "unfinished", "--tag", "build=shop-two"], &["shop-two"]);
    check(&["--status", "running"], &[]);
    check(&["--tag", "build=none"], &[]);
    let text = runs(&trial, &[]);
    let lines: Vec<_> = text.expect_exit(0).stdout.lines().collect();
    assert!(lines[0].starts_with("id ") && lines[0].contains("outcome"), "{text}");
    assert!(lines[1].contains("PASS") && lines[1].contains("/s"), "{text}");
    assert!(lines[2].contains("UNFINISHED"), "{text}");
    assert!(text.stdout.contains("3 runs in `runs`"), "{text}");
    assert!(lines.iter().all(|line| line.chars().count() <= 100), "{text}");
    let none = runs(&trial, &["--name", "absent"]);
    assert!(none.expect_exit(0).stdout.contains("no matching run among the 3 runs in `runs`"), "{none}");
}

#[test]
fn an_empty_directory_and_none_are_reported() {
    let trial = trial();
    // The default directory does not exist before the first run. A named directory that does not
    // exist is a mistake.
    for words in [&[][..], &["list"], &["prune", "--failed", "--yes"]] {
        runs(&trial, words).expect_exit(0);
        let named: Vec<_> = words.iter().chain(&["--runs-dir", "nowhere"]).copied().collect();
        check_refused(&runs(&trial, &named), "cannot read the runs directory `nowhere`: No such file");
    }
    for dir in ["nowhere", "empty"] {
        fs::create_dir_all(trial.place().path().join("empty")).expect("the test's own folder is writable");
        for words in [["report", "latest"], ["runs", "show"], ["runs", "pack"]] {
            let mut words: Vec<_> = words.into_iter().chain(["latest", "--runs-dir", dir]).collect();
            words.dedup();
            check_refused(&trial.program().args(words).run(), &format!("no runs in `{dir}`"));
        }
    }
    let list = runs(&trial, &["--runs-dir", "empty"]);
    assert!(list.expect_exit(0).stdout.starts_with("no runs in `empty`\n"), "{list}");
    let pruned = runs(&trial, &["prune", "--keep", "0", "--yes", "--runs-dir", "empty"]);
    assert!(pruned.expect_exit(0).stdout.contains("nothing to remove"), "{pruned}");
    check_refused(
        &runs(&trial, &["--keep", "3"]),
        "hint: it belongs after a subcommand: wavetank runs --help",
    );
    trial.place().write("file", "");
    for words in [vec!["list"], vec!["show", "latest"], vec!["prune", "--keep", "0"], vec!["pack", "latest"]]
    {
        let words: Vec<_> = words.into_iter().chain(["--runs-dir", "file"]).collect();
        check_refused(&runs(&trial, &words), "a file, not a folder");
    }
}

#[test]
fn what_is_in_an_archive_is_shown() {
    let (trial, folders) = with_runs(&["shop"]);
    let text = runs(&trial, &["show", "latest"]);
    text.expect_exit(0);
    for part in
        ["PASS", "command    wavetank run", "--seed", "SHA-256 ", "intervals/local.jsonl", "build=shop"]
    {
        assert!(text.stdout.contains(part), "{part}: {text}");
    }
    let doc = runs(&trial, &["show", "latest", "--format", "json"]).json();
    assert_eq!((&doc["schema"], &doc["plan_fits"]), (&"wavetank.archive/1".into(), &true.into()), "{doc}");
    assert_eq!(doc["problems"].as_array().map(Vec::len), Some(0), "{doc}");
    // The printed command for repeating the run is valid.
    let repeat = doc["repeat"].as_str().expect("a command");
    assert!(repeat.starts_with("wavetank run ") && repeat.contains(" --seed "), "{repeat}");
    let bytes: u64 =
        doc["files"].as_array().expect("files").iter().filter_map(|file| file["bytes"].as_u64()).sum();
    assert_eq!(doc["run"]["bytes"].as_u64(), Some(bytes));
    fs::write(folders[0].join("run.json"), "{").expect("the test's own folder is writable");
    let damaged = runs(&trial, &["show", "latest"]);
    assert!(damaged.expect_exit(0).stdout.starts_with("DAMAGED"), "{damaged}");
    assert!(damaged.stdout.contains("problem    `run.json` cannot be read"), "{damaged}");
}

#[test]
fn pruning_asks_first() {
    let (trial, folders) = with_runs(&["one", "two", "three"]);
    let words = ["prune", "--keep", "1"];
    let asked = runs(&trial, &words);
    assert!(asked.expect_exit(0).stdout.contains("would remove 2 runs"), "{asked}");
    assert!(asked.stdout.contains("--yes") && folders.iter().all(|folder| folder.exists()), "{asked}");
    fs::write(folders[0].join("mine.txt"), "mine").expect("the test's own folder is writable");
    let removed = runs(&trial, &["prune", "--keep", "1", "--yes"]);
    assert!(removed.expect_exit(0).stdout.contains("removed 1 run,"), "{removed}");
    assert!(removed.stdout.contains("`mine.txt`, which is not one of the archive's files"), "{removed}");
    assert_eq!(folders.iter().map(|folder| folder.exists()).collect::<Vec<_>>(), [true, false, true]);
    check_refused(&runs(&trial, &["prune", "--yes"]), "no option selects the runs to remove");
}

/// A run in progress is listed and reported as such, and is neither removed nor packed.
#[test]
fn a_run_in_progress_is_left_alone() {
    let (trial, target) = (trial(), Target::start(Script::constant(Duration::ZERO)));
    let running = trial.load(&target.url("/"), ["-r", "100/s", "-d", "60s", "--quiet"]).start();
    let sealed = || {
        let folder = trial.place().runs("runs").into_iter().next()?;
        fs::metadata(folder.join("intervals/local.jsonl")).ok().filter(|file| file.len() > 0)
    };
    while sealed().is_none() {
        assert!(!running.ends_within(Duration::from_millis(50)), "{}", running.stderr());
    }
    let list = runs(&trial, &["--status", "running"]);
    assert!(list.expect_exit(0).stdout.contains("RUNNING"), "{list}");
    let pruned = runs(&trial, &["prune", "--keep", "0", "--yes"]);
    assert!(pruned.expect_exit(0).stdout.contains("it is being written"), "{pruned}");
    check_refused(&runs(&trial, &["pack", "latest"]), "still being written");
    let report = trial.program().args(["report", "latest"]).run();
    assert!(report.expect_exit(0).stdout.contains("still running"), "{report}");
    assert!(report.stdout.starts_with("RUNNING ") && !report.stdout.contains("lost"), "{report}");
    assert_eq!(trial.place().runs("runs").len(), 1);
    // After a kill it is no longer in progress.
    drop(running);
    let list = runs(&trial, &["--status", "unfinished"]);
    assert!(list.expect_exit(0).stdout.contains("UNFINISHED"), "{list}");
    let report = trial.program().args(["report", "latest"]).run();
    assert!(report.expect_exit(0).stdout.contains("stopped before the run was over"), "{report}");
}

#[test]
fn a_packed_run_is_read_like_its_folder() {
    let (trial, _) = with_runs(&["shop"]);
    let pack = trial.place().file("shop.wtrun");
    let packed = runs(&trial, &["pack", "latest", "--out", &pack]);
    assert!(packed.expect_exit(0).stdout.contains("next: wavetank report"), "{packed}");
    let temporary = trial.place().file("temporary");
    fs::create_dir(&temporary).expect("the test's own folder is writable");
    let of = |run: &str, words: &[&str]| {
        let program = trial.program().environment("TMPDIR", &temporary);
        program.args(["report", run]).args(words).run().expect_exit(0).stdout.clone()
    };
    for format in ["text", "json", "junit", "csv", "markdown", "hgrm", "hlog"] {
        let words = ["--format", format];
        assert_eq!(of(&pack, &words), of("latest", &words), "{format}");
    }
    let shown = |run: &str| {
        let mut doc = runs(&trial, &["show", run, "--format", "json"]).json();
        doc["path"].take();
        doc["packed"].take();
        doc
    };
    assert_eq!(shown(&pack), shown("latest"));
    assert_eq!(fs::read_dir(&temporary).expect("it is there").count(), 0, "nothing is left behind");
    // `latest` is never a packed run, and packed runs are mentioned below the list.
    fs::rename(&pack, trial.place().path().join("runs/shop.wtrun"))
        .expect("the test's own folder is writable");
    let list = runs(&trial, &[]);
    assert!(list.expect_exit(0).stdout.contains("also in this folder: 1 packed run (shop.wtrun)"), "{list}");
    let pack = trial.place().file("runs/shop.wtrun");
    check_refused(&runs(&trial, &["pack", &pack]), "is packed already");
    fs::write(&pack, &fs::read(&pack).expect("it is there")[..200])
        .expect("the test's own folder is writable");
    check_refused(&trial.program().args(["report", &pack]).run(), "is not a complete packed run");
    check_refused(&runs(&trial, &["show", &pack]), "is not a complete packed run");
    check_refused(&runs(&trial, &["unpack", &pack]), "is not a complete packed run");
    trial.place().write("a.json", "{}");
    let other = runs(&trial, &["unpack", "a.json"]);
    check_refused(&other, "is not a packed run");
    assert!(other.stderr.contains("wavetank runs unpack FILE.wtrun"), "{other}");
}
