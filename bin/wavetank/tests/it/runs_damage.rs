//! Damaged archives, file by file: one clear line, the right exit code, all readable data, and no
//! change on the disk.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use wavetank_testkit::{Outcome, RunHarness, Script, Target, copy_folder};

/// The expected result of `report` in a format.
#[derive(Clone, Copy, Debug)]
enum Expected {
    /// It is the report of the undamaged run.
    Same,
    /// Exit 0, with this text on stdout or stderr.
    Reported(&'static str),
    /// Exit 2, with one error line that contains this text.
    Refused(&'static str),
}
use Expected::{Refused, Reported, Same};

/// An undamaged run of three seconds, and its reports.
struct Whole {
    trial: RunHarness,
    folder: PathBuf,
    /// Another run of the same load, packed.
    other: String,
    text: String,
    csv: String,
    /// How its verdict is listed.
    verdict: &'static str,
}

fn whole() -> Whole {
    let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    let target = Target::start(Script::constant(Duration::ZERO));
    // On a busy machine a run may be invalid. Its archive is as good.
    let made = |words: &[&str]| {
        let outcome = trial.load(&target.url("/"), words.iter().copied()).run();
        match outcome.exit {
            Some(0) => "PASS",
            Some(3) => "INVALID",
            _ => panic!("{outcome}"),
        }
    };
    let verdict = made(&["-r", "50/s", "-d", "3s", "--name", "whole", "--quiet"]);
    let folder = trial.place().runs("runs").into_iter().next().expect("the run has its archive");
    let of = |format: &str| {
        let outcome = trial.program().args(["report", "latest", "--format", format]).run();
        outcome.expect_exit(0).stdout.clone()
    };
    let (text, csv) = (of("text"), of("csv"));
    made(&["-r", "50/s", "-d", "3s", "--runs-dir", "other", "--quiet"]);
    let packed = ["runs", "pack", "latest", "--runs-dir", "other", "--out", "other.wtrun"];
    trial.program().args(packed).run().expect_exit(0);
    Whole { trial, folder, other: "other.wtrun".to_owned(), text, csv, verdict }
}

/// Returns every file below `folder` with its content.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("it is there").flatten() {
        if entry.path().is_dir() {
            found.extend(contents(&entry.path()));
        } else {
            found.insert(entry.path(), fs::read(entry.path()).expect("it can be read"));
        }
    }
    found
}

#[track_caller]
fn check_one(outcome: &Outcome, same: &str, expected: Expected, what: &str) {
    assert!(!outcome.stderr.contains("panicked"), "{what}: {outcome}");
    match expected {
        Same => assert_eq!(outcome.expect_exit(0).stdout, same, "{what}"),
        Reported(words) => {
            outcome.expect_exit(0);
            assert!(
                format!("{}{}", outcome.stdout, outcome.stderr).contains(words),
                "{what}: `{words}`: {outcome}"
            );
        }
        Refused(words) => {
            outcome.expect_exit(2);
            let lines: Vec<_> = outcome.stderr.lines().collect();
            // The header of a table may be printed before its first line turns out to be missing.
            assert_eq!((lines.len(), outcome.stdout.lines().count() <= 1), (2, true), "{what}: {outcome}");
            assert!(
                lines[0].starts_with("error: ") && lines[0].contains(words),
                "{what}: `{words}`: {outcome}"
            );
            assert!(lines[1].starts_with("hint: "), "{what}: {outcome}");
        }
    }
}

/// Checks a comparison with an undamaged run, which succeeds or fails with one line.
#[track_caller]
fn check_compared(outcome: &Outcome, what: &str) {
    assert!(!outcome.stderr.contains("panicked"), "{what}: {outcome}");
    if outcome.exit == Some(2) {
        let lines: Vec<_> = outcome.stderr.lines().collect();
        assert!(outcome.stdout.is_empty() && lines.len() == 2, "{what}: {outcome}");
        assert!(lines[0].starts_with("error: ") && lines[1].starts_with("hint: "), "{what}: {outcome}");
    } else {
        // An invalid run, from a busy machine, has no comparison that counts.
        let expected = if outcome.exit == Some(3) { "INVALID" } else { "UNDECIDED" };
        assert!(matches!(outcome.exit, Some(0 | 3)), "{what}: {outcome}");
        assert!(outcome.stdout.starts_with(expected), "{what}: {outcome}");
    }
}

impl Whole {
    /// Applies `damage` to a copy, and checks its text report, its CSV report and its status in the
    /// list.
    #[track_caller]
    fn check(&self, what: &str, damage: &dyn Fn(&Path), text: Expected, csv: Expected, listed: &str) {
        let listed = if listed == "PASS" { self.verdict } else { listed };
        let runs = self.trial.place().path().join("damaged");
        let _ = fs::remove_dir_all(&runs);
        let folder = runs.join(self.folder.file_name().expect("a name"));
        copy_folder(&self.folder, &folder);
        damage(&folder);
        let before = contents(&runs);
        let run = |words: &[&str]| self.trial.program().args(words).args(["--runs-dir", "damaged"]).run();
        check_one(&run(&["report", "latest"]), &self.text, text, what);
        check_one(&run(&["report", "latest", "--format", "csv"]), &self.csv, csv, what);
        let compared = run(&["compare", "latest", &self.other]);
        check_compared(&compared, what);
        let list = run(&["runs", "list"]);
        assert!(list.expect_exit(0).stdout.contains(listed), "{what}: `{listed}`: {list}");
        let shown = run(&["runs", "show", "latest"]);
        assert!(shown.expect_exit(0).stdout.starts_with(listed), "{what}: `{listed}`: {shown}");
        assert_eq!(contents(&runs), before, "{what}: reading changes nothing");
    }
}

fn cut(name: &'static str) -> impl Fn(&Path) {
    move |folder| {
        let bytes = fs::read(folder.join(name)).expect("it is there");
        put(name, &bytes[..bytes.len() / 2])(folder);
    }
}

fn put(name: &'static str, bytes: &[u8]) -> impl Fn(&Path) {
    let bytes = bytes.to_vec();
    move |folder| fs::write(folder.join(name), &bytes).expect("the test's own folder is writable")
}

fn gone(name: &'static str) -> impl Fn(&Path) {
    move |folder| fs::remove_file(folder.join(name)).expect("the test's own folder is writable")
}

/// Keeps the first `lines` lines of `name`.
fn keep_lines(name: &'static str, lines: usize) -> impl Fn(&Path) {
    move |folder| {
        let text = fs::read_to_string(folder.join(name)).expect("it is there");
        let kept: String = text.split_inclusive('\n').take(lines).collect();
        put(name, kept.as_bytes())(folder);
    }
}

/// Replaces `from` by `to` in `name`, once.
fn edit(name: &'static str, from: &'static str, to: &'static str) -> impl Fn(&Path) {
    move |folder| {
        let text = fs::read_to_string(folder.join(name)).expect("it is there");
        assert!(text.contains(from), "{name} has no {from}");
        put(name, text.replacen(from, to, 1).as_bytes())(folder);
    }
}

fn both(first: impl Fn(&Path), second: impl Fn(&Path)) -> impl Fn(&Path) {
    move |folder| {
        first(folder);
        second(folder);
    }
}

const INTERVALS: &str = "intervals/local.jsonl";

#[test]
fn finished_runs() {
    let whole = whole();
    whole.check("nothing", &|_| {}, Same, Same, "PASS");
    let damaged = Refused("cannot read `run.json`");
    whole.check("run.json cut", &cut("run.json"), damaged, damaged, "DAMAGED");
    whole.check("run.json empty", &put("run.json", b""), damaged, damaged, "DAMAGED");
    whole.check("run.json binary", &put("run.json", &[0xff; 64]), damaged, damaged, "DAMAGED");
    let newer = Refused("written by a later version");
    whole.check("run/2", &edit("run.json", "wavetank.run/1", "wavetank.run/2"), newer, newer, "NEWER");
    let other = put("run.json", b"{\"schema\":\"wavetank.run/2\",\"verdict\":7}");
    whole.check("run/2, all else another", &other, newer, newer, "NEWER");
    let folder = both(gone("run.json"), |folder: &Path| {
        fs::create_dir(folder.join("run.json")).expect("the test's own folder is writable");
    });
    let no_file = Refused("it is not a regular file");
    whole.check("run.json a folder", &folder, no_file, no_file, "DAMAGED");
    let plan = Refused("cannot read `plan.yaml`");
    whole.check("plan.yaml cut", &cut("plan.yaml"), Same, plan, "PASS");
    whole.check("plan.yaml gone", &gone("plan.yaml"), Same, plan, "PASS");
    whole.check("plan.yaml another", &edit("plan.yaml", "seed: ", "seed: 9"), Same, plan, "PASS");
    let version = edit("plan.yaml", "wavetank_plan: 1", "wavetank_plan: 2");
    whole.check("plan 2", &version, Same, newer, "PASS");
    whole.check("environment.json cut", &cut("environment.json"), Same, Same, "PASS");
    whole.check("environment.json gone", &gone("environment.json"), Same, Same, "PASS");
    whole.check("samples.jsonl cut", &cut("samples.jsonl"), Same, Same, "PASS");
    whole.check("samples.jsonl binary", &put("samples.jsonl", &[0xfe; 999]), Same, Same, "PASS");
    let left_out = Reported("lacks 50 of the 150 requests");
    let line = Reported("1 line in");
    whole.check("a damaged line", &edit(INTERVALS, "\"seq\":1", "\"seq\":?"), Same, line, "PASS");
    whole.check("an interval damaged", &edit(INTERVALS, "\"seq\":1", "\"seq\":?"), Same, left_out, "PASS");
    let later = Reported("written by a later version");
    whole.check(
        "an interval of a later version",
        &edit(INTERVALS, "{\"v\":", "{\"v\":9"),
        Same,
        later,
        "PASS",
    );
    let lacks = Reported("lacks 100 of the 150 requests");
    whole.check("the last two seconds gone", &keep_lines(INTERVALS, 2), Same, lacks, "PASS");
    let none = Refused("no interval of the run can be read");
    whole.check("intervals binary", &put(INTERVALS, &[0; 9999]), Same, none, "PASS");
    whole.check("intervals gone", &gone(INTERVALS), Same, none, "PASS");
}

/// `runs show` lists the problems of intervals that reports warn of, for a packed run as well.
#[test]
fn what_intervals_lack_is_shown() {
    let whole = whole();
    let problems = |damage: &dyn Fn(&Path)| -> Vec<String> {
        let runs = whole.trial.place().path().join("damaged");
        let _ = fs::remove_dir_all(&runs);
        let folder = runs.join(whole.folder.file_name().expect("a name"));
        copy_folder(&whole.folder, &folder);
        damage(&folder);
        let run = |words: &[&str]| whole.trial.program().args(words).args(["--runs-dir", "damaged"]).run();
        let of = |word: &str| {
            let doc = run(&["runs", "show", word, "--format", "json"]).expect_exit(0).json();
            let problems = doc["problems"].as_array().expect("a list").iter();
            problems.map(|said| said.as_str().expect("a sentence").to_owned()).collect::<Vec<_>>()
        };
        let reported = of("latest");
        run(&["runs", "pack", "latest", "--out", "damaged/x.wtrun"]).expect_exit(0);
        assert_eq!(of("damaged/x.wtrun"), reported);
        reported
    };
    let lacks = |count: u32| {
        format!("`intervals` lacks {count} of the 150 requests that the run counted: time series have gaps")
    };
    let unread = "1 line in `intervals` cannot be read: left out";
    assert_eq!(problems(&|_| {}), Vec::<String>::new());
    assert_eq!(problems(&edit(INTERVALS, "\"seq\":1", "\"seq\":?")), [unread.to_owned(), lacks(50)]);
    assert_eq!(problems(&keep_lines(INTERVALS, 2)), [lacks(100)]);
    assert_eq!(problems(&gone(INTERVALS)), [lacks(150)]);
    let killed = gone("run.json");
    assert_eq!(problems(&killed), Vec::<String>::new());
    let missing = "1 interval is missing in `intervals`: time series have gaps";
    let lost = problems(&both(killed, edit(INTERVALS, "\"seq\":1", "\"seq\":?")));
    assert_eq!(lost, [unread, missing]);
    // Without the plan it is unknown which requests count, but a damaged line is still noticed.
    let reported = problems(&both(gone("plan.yaml"), edit(INTERVALS, "\"seq\":1", "\"seq\":?")));
    assert_eq!(reported, ["`plan.yaml` is missing", unread, missing]);
}

#[test]
fn runs_without_a_record() {
    let whole = whole();
    let killed = || gone("run.json");
    let incomplete = Reported("stopped before the run was over");
    let csv = Reported("");
    whole.check("killed", &killed(), incomplete, csv, "UNFINISHED");
    let partial = both(killed(), put("run.json.partial", b"{\"schema\":"));
    whole.check("killed at its end", &partial, incomplete, csv, "UNFINISHED");
    let torn = both(killed(), cut(INTERVALS));
    whole.check("killed inside a line", &torn, incomplete, csv, "UNFINISHED");
    let lost = both(killed(), edit(INTERVALS, "\"seq\":1", "\"seq\":?"));
    whole.check("a line damaged", &lost, Reported("a line of the archive cannot be read"), csv, "UNFINISHED");
    let later = both(killed(), edit(INTERVALS, "{\"v\":", "{\"v\":9"));
    whole.check(
        "a line of a later version",
        &later,
        Reported("written by a later version"),
        csv,
        "UNFINISHED",
    );
    let plan = Refused("cannot read `plan.yaml`");
    whole.check("no plan", &both(killed(), cut("plan.yaml")), plan, plan, "DAMAGED");
    let newer = Refused("written by a later version");
    let version = both(killed(), edit("plan.yaml", "wavetank_plan: 1", "wavetank_plan: 2"));
    whole.check("plan 2", &version, newer, newer, "NEWER");
    let environment = Refused("no readable `environment.json`");
    let cut_environment = both(killed(), cut("environment.json"));
    whole.check("environment cut", &cut_environment, environment, environment, "UNFINISHED");
    whole.check(
        "environment gone",
        &both(killed(), gone("environment.json")),
        environment,
        environment,
        "UNFINISHED",
    );
}

/// A missing file must not look like 0 CPUs or a kernel without a name.
#[test]
fn unknown_machines_are_reported_and_not_compared() {
    let whole = whole();
    let compared = |damage: &dyn Fn(&Path)| {
        let folder = whole.trial.place().path().join("damaged");
        copy_folder(&whole.folder, &folder);
        damage(&folder);
        let shown = folder.to_string_lossy().into_owned();
        let reported =
            whole.trial.program().args(["compare", &shown, &whole.other, "--format", "json"]).run();
        let warnings = reported.expect_exit(0).json()["warnings"].clone();
        fs::remove_dir_all(&folder).expect("the test's own folder");
        let warnings = warnings.as_array().expect("a list").iter();
        warnings.map(|said| said.as_str().expect("a sentence").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(compared(&|_| {}), Vec::<String>::new());
    for damage in [&gone("environment.json") as &dyn Fn(&Path), &cut("environment.json")] {
        let reported = compared(damage);
        assert!(reported.len() == 1 && reported[0].starts_with("the machine of run"), "{reported:?}");
    }
}

/// A named pipe without a writer in place of a file must not block the program.
#[test]
#[cfg(unix)]
fn pipes_are_no_files() {
    let whole = whole();
    let refused = Refused("it is not a regular file");
    for (name, text, csv, listed) in [
        ("events.jsonl", refused, refused, "PASS"),
        ("samples.jsonl", refused, refused, "PASS"),
        (INTERVALS, Same, refused, "PASS"),
        ("environment.json", Same, Same, "PASS"),
        ("plan.yaml", refused, refused, "PASS"),
        ("run.json", refused, refused, "DAMAGED"),
    ] {
        let folder = whole.trial.place().path().join("damaged");
        copy_folder(&whole.folder, &folder);
        let pipe = folder.join(name);
        let _ = fs::remove_file(&pipe);
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo works");
        let run = |words: &[&str]| whole.trial.program().args(words).run();
        let shown = folder.to_string_lossy().into_owned();
        check_one(&run(&["report", &shown]), &whole.text, text, name);
        check_one(&run(&["report", &shown, "--format", "csv"]), &whole.csv, csv, name);
        check_compared(&run(&["compare", &shown, &whole.other]), name);
        let reported = run(&["runs", "show", &shown]);
        assert!(reported.expect_exit(0).stdout.starts_with(listed), "{name}: {reported}");
        fs::remove_dir_all(&folder).expect("the test's own folder");
    }
    let search = whole.trial.place().path().join("search");
    fs::create_dir(&search).expect("the test's own folder");
    let made = std::process::Command::new("mkfifo").arg(search.join("search.json")).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo works");
    let reported = whole.trial.program().args(["report", &search.to_string_lossy()]).run();
    check_one(&reported, "", refused, "search.json");
}
