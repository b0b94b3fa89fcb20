//! `wavetank compare` and `run … --baseline`, through the program.

use std::path::PathBuf;
use std::time::Duration;

use wavetank_testkit::{
    Outcome, RunHarness, Script, Target, TimingMismatch, copy_folder, expect_time, retry_timing,
    retry_timing_of,
};

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

/// A closed loop. It waits for its target, so a busy machine makes its runs slow but not INVALID.
const CLOSED: [&str; 5] = ["-c", "2", "-d", "1s", "--no-probe"];

/// Makes `many` short runs against a target that responds after `millis`, and returns their ids.
fn runs(trial: &RunHarness, millis: u64, many: usize) -> Vec<String> {
    let target = Target::start(Script::constant(Duration::from_millis(millis)));
    let url = target.url("/");
    let one = |_| {
        let words = ["run", &url, "--format", "json"];
        trial.program().args(words).args(CLOSED).run().json()["id"].as_str().expect("an id").to_owned()
    };
    (0..many).map(one).collect()
}

fn compare(trial: &RunHarness, words: &[&str]) -> Outcome {
    trial.program().args(["compare"]).args(words).run()
}

#[track_caller]
fn refused(outcome: &Outcome, mentions: &str) {
    outcome.expect_exit(2);
    assert_eq!(outcome.stdout, "", "{outcome}");
    let reported = outcome.stderr.contains("error: ") && outcome.stderr.contains("hint: ");
    assert!(reported && outcome.stderr.contains(mentions), "`{mentions}` is not mentioned: {outcome}");
}

#[test]
fn ten_times_slower_is_a_difference_and_a_regression() {
    let made = retry_timing_of(|| {
        let trial = trial();
        let (fast, slow) = (runs(&trial, 3, 3), runs(&trial, 30, 3));
        let text = compare(&trial, &[&fast.join(","), &slow.join(",")]);
        let is_clear = text.expect_exit(0).stdout.starts_with("DIFFERENCE ");
        // Pauses of a busy machine are longer than either time.
        expect_time(is_clear, || format!("{text}"))?;
        Ok((trial, fast, slow))
    });
    let Some((trial, fast, slow)) = made else { return };
    let (a, b) = (fast.join(","), slow.join(","));
    let json = compare(&trial, &[&a, &b, "--format", "json"]);
    let doc = json.expect_exit(0).json();
    assert_eq!(
        (&doc["schema"], &doc["answer"]),
        (&"wavetank.compare/1".into(), &"difference".into()),
        "{json}"
    );
    let metrics = doc["metrics"].as_array().expect("values");
    let p50 = metrics.iter().find(|metric| metric["name"] == "p50").expect("p50");
    let ratio = p50["ratio"].as_f64().expect("a ratio");
    assert!((3.0..15.0).contains(&ratio), "{ratio}");
    // The same seed gives the same result.
    assert_eq!(compare(&trial, &[&a, &b, "--format", "json"]).stdout, json.stdout);
    let failing = compare(&trial, &[&a, &b, "--max-regression", "20%"]);
    assert!(failing.expect_exit(1).stdout.starts_with("REGRESSION "), "{failing}");
    // An improvement is not a regression, in either order of the arguments.
    let back = compare(
        &trial,
        &[&slow[0], &slow[1], &slow[2], "--with", &a, "--max-regression", "20%", "--metric", "p50"],
    );
    assert!(back.expect_exit(0).stdout.starts_with("NO REGRESSION SHOWN "), "{back}");
    let junit = compare(&trial, &[&a, &b, "--max-regression", "20%", "--format", "junit"]);
    assert!(junit.expect_exit(1).stdout.contains("<failure"), "{junit}");
    let markdown = trial.place().file("said.md");
    compare(&trial, &[&a, &b, "--out", &markdown]).expect_exit(0);
    assert!(std::fs::read_to_string(&markdown).expect("written").starts_with("## DIFFERENCE"));
    let page = compare(&trial, &[&a, &b, "--format", "html", "--lang", "zh"]);
    let reported = &page.expect_exit(0).stdout;
    assert!(reported.starts_with("<!DOCTYPE html>") && reported.contains("lang=\"zh-CN\""), "{page}");
    assert!(
        reported.contains("有差异")
            && reported.contains("id=\"course\"")
            && reported.contains("id=\"times\""),
        "{page}"
    );
    let again = format!("wavetank compare {a} {b} <span class=\"option\">--seed</span> 1");
    assert!(reported.contains(&again), "{page}");
    refused(&compare(&trial, &[&a, &b, "--lang", "zh"]), "--lang");
    // The repeat command finds the same runs and has the same limit.
    let dir = trial.place().file("runs");
    let page = compare(&trial, &[&a, &b, "--format", "html", "--max-regression", "7%", "--runs-dir", &dir]);
    let reported = page.expect_exit(1).stdout.replace("<span class=\"option\">", "").replace("</span>", "");
    let again = format!("wavetank compare {a} {b} --max-regression 7% --seed 1 --runs-dir {dir}");
    assert!(reported.contains(&again), "{page}");
}

/// Steps are compared by what they are, not by their position.
#[test]
fn a_step_that_moved_is_compared_with_no_other() {
    let trial = trial();
    let target = Target::start(Script::constant(Duration::from_millis(3)));
    let run = |steps: &str| {
        let text = format!(
            "wavetank: 1\nname: shop\ntarget: {}\nscenarios: {{visitor: {{weight: 1, steps: [{steps}]}}}}\nphases: [{{users: 2, for: 1s}}]\n",
            target.url("").trim_end_matches('/')
        );
        let file = trial.place().write("shop.yaml", text);
        trial.program().args(["run", &file, "--format", "json"]).run().json()["id"]
            .as_str()
            .expect("an id")
            .to_owned()
    };
    let step = |name: &str| format!("{{get: /{name}, name: {name}}}");
    let [login, browse, buy] = ["login", "browse", "buy"].map(step);
    let a = run(&format!("{login}, {buy}"));
    let b = run(&format!("{login}, {browse}, {buy}"));
    let reported = compare(&trial, &[&a, &b, "--format", "json"]);
    let doc = reported.expect_exit(0).json();
    let names: Vec<_> =
        doc["metrics"].as_array().expect("values").iter().filter_map(|one| one["name"].as_str()).collect();
    assert!(names.contains(&"p50(login)"), "{reported}");
    assert!(!names.iter().any(|name| name.contains("(buy)") || name.contains("(browse)")), "{reported}");
    let said = "steps that differ between runs, or are at another position, are not compared individually: browse, buy";
    assert!(doc["warnings"].as_array().expect("some").iter().any(|one| *one == said), "{reported}");
    let same = compare(&trial, &[&b, &run(&format!("{login}, {browse}, {buy}")), "--format", "json"]);
    assert!(same.stdout.contains("p50(buy)") && !same.stdout.contains("at another position"), "{same}");
}

#[test]
fn what_several_runs_differ_by_is_reported_once() {
    let trial = trial();
    let a = runs(&trial, 3, 2);
    let target = Target::start(Script::constant(Duration::from_millis(3)));
    let other = |_| {
        let words = ["run", &target.url("/"), "-c", "3", "-d", "1s", "--no-probe", "--format", "json"];
        trial.program().args(words).run().json()["id"].as_str().expect("an id").to_owned()
    };
    let b: Vec<String> = (0..2).map(other).collect();
    let loads = |one: &str, other: &str| {
        let reported = compare(&trial, &[one, other, "--format", "json"]);
        let doc = reported.expect_exit(0).json();
        let warnings = doc["warnings"].as_array().expect("there are some").iter();
        let said = warnings.filter_map(|one| one.as_str()).filter(|said| said.contains("the loads of "));
        said.map(str::to_owned).collect::<Vec<_>>()
    };
    let both =
        format!("the loads of runs {} and {}, {} differ: a difference may come from that", a[0], b[0], b[1]);
    assert_eq!(loads(&a[0], &format!("{},{},{}", b[0], a[1], b[1])), [both]);
    let sides = "the loads of A and B differ: a difference may come from that";
    assert_eq!(loads(&a.join(","), &b.join(",")), [sides]);
}

/// The warning that the loads differ is shown in full, for any number of INVALID runs.
#[test]
fn doubts_leave_room_for_what_differs() {
    let trial = trial();
    let a = runs(&trial, 3, 1).remove(0);
    let target = Target::start(Script::constant(Duration::from_millis(3)));
    let words = ["run", &target.url("/"), "-c", "3", "-d", "1s", "--no-probe", "--format", "json"];
    let b = trial.program().args(words).run().json()["id"].as_str().expect("an id").to_owned();
    let folders = trial.place().runs("runs");
    let side = |id: &str| {
        let folder = folders.iter().find(|folder| folder.to_string_lossy().ends_with(id)).expect("a folder");
        let invalid = |number: usize| {
            let name = format!("{id}{number}");
            let copied = PathBuf::from(trial.place().file(&name));
            copy_folder(folder, &copied);
            let path = copied.join("run.json");
            let text = std::fs::read_to_string(&path).expect("it is there");
            let changed = text
                .replacen(&format!("\"id\":\"{id}\""), &format!("\"id\":\"{name}\""), 1)
                .replacen("\"status\":\"pass\"", "\"status\":\"invalid\"", 1);
            std::fs::write(&path, changed).expect("the test's own");
            copied.to_string_lossy().into_owned()
        };
        (0..6).map(invalid).collect::<Vec<_>>().join(",")
    };
    let reported = compare(&trial, &[&side(&a), &side(&b), "--format", "json"]);
    let doc = reported.expect_exit(0).json();
    let warnings: Vec<_> =
        doc["warnings"].as_array().expect("there are some").iter().filter_map(|one| one.as_str()).collect();
    assert_eq!(warnings.iter().filter(|said| said.contains("is INVALID")).count(), 12, "{reported}");
    assert!(warnings[12].starts_with("the loads of A and B differ"), "{reported}");
}

#[test]
fn single_runs_are_undecided_however_far_apart() {
    let trial = trial();
    let (fast, slow) = (runs(&trial, 3, 1), runs(&trial, 30, 1));
    let reported = compare(&trial, &[&fast[0], &slow[0]]);
    assert!(reported.expect_exit(0).stdout.starts_with("UNDECIDED "), "{reported}");
    assert!(reported.stdout.contains("more times"), "{reported}");
    let asked = compare(&trial, &[&fast[0], &slow[0], "--max-regression", "10%"]);
    asked.expect_exit(4);
}

#[test]
fn names_and_labels_choose_runs() {
    let trial = trial();
    let target = Target::start(Script::constant(Duration::from_millis(3)));
    let url = target.url("/");
    let run = |name: &str, version: &str| {
        let words = ["-r", "100/s", "-d", "1s", "--no-probe", "--name", name, "--tag", version];
        trial.load(&url, words).run().json()["id"].as_str().expect("an id").to_owned()
    };
    let [old, new] = ["version=1", "version=2"].map(|version| [run("shop", version), run("shop", version)]);
    let other = run("bank", "version=2");
    let chosen = |words: &[&str]| {
        let reported = compare(&trial, &[words, &["--format", "json"]].concat());
        let doc = reported.expect_exit(0).json();
        ["a", "b"].map(|side| {
            let runs = doc[side]["runs"].as_array().expect("a list").iter();
            runs.map(|run| run["id"].as_str().expect("an id").to_owned()).collect::<Vec<_>>()
        })
    };
    assert_eq!(chosen(&["tag:version=1", "name:bank"]), [old.to_vec(), vec![other.clone()]]);
    assert_eq!(chosen(&["tag:version=1", "name:shop+tag:version=2"]), [old.to_vec(), new.to_vec()]);
    assert_eq!(chosen(&[&format!("tag:version=1,{other}"), &new[0]])[0].len(), 3);
    let comma = run("shop", "version=3,5");
    assert_eq!(chosen(&["tag:version=1", "tag:version=3\\,5"])[1], [comma]);
    refused(&compare(&trial, &["tag:version=3", "name:bank"]), "tag:version=3");
    refused(&compare(&trial, &["name:sho", "name:bank"]), "name:sho");
    refused(&compare(&trial, &["tag:version", "name:bank"]), "names no runs");
    refused(&compare(&trial, &["name:shop", "tag:version=2"]), "named twice");
    // A run that never finished is left out, with a message.
    let folders = trial.place().runs("runs");
    let folder = folders.iter().find(|folder| folder.to_string_lossy().ends_with(&new[1])).expect("a folder");
    std::fs::remove_file(folder.join("run.json")).expect("the test's own");
    let reported = compare(&trial, &["tag:version=1", "name:shop+tag:version=2"]);
    assert!(reported.expect_exit(0).stderr.contains("1 run that has not finished left out"), "{reported}");
}

/// A file that ends early between two lines looks like a shorter run.
#[test]
fn intervals_that_are_missing_are_reported() {
    let trial = trial();
    let target = Target::start(Script::constant(Duration::from_millis(3)));
    let url = target.url("/");
    let words = ["run", &url, "-r", "100/s", "-d", "2s", "--no-probe", "--format", "json"];
    let run = || trial.program().args(words).run().json()["id"].as_str().expect("an id").to_owned();
    let ids = [run(), run()];
    let folders = trial.place().runs("runs");
    let folder = folders.iter().find(|folder| folder.to_string_lossy().ends_with(&ids[1])).expect("a folder");
    let path = folder.join("intervals/local.jsonl");
    let text = std::fs::read_to_string(&path).expect("it is there");
    let kept: String = text.split_inclusive('\n').take(2).collect();
    std::fs::write(&path, kept).expect("the test's own");
    let reported = compare(&trial, &[&ids[0], &ids[1]]);
    assert!(reported.expect_exit(0).stdout.contains("intervals lack"), "{reported}");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let trial = trial();
    refused(&compare(&trial, &["a", "b"]), "no runs in");
    let closed = runs(&trial, 3, 2);
    refused(&compare(&trial, &[&closed[0], &closed[0]]), "named twice");
    trial.program().args(["runs", "pack", &closed[0], "--out", "one.wtrun"]).run().expect_exit(0);
    refused(&compare(&trial, &["one.wtrun", &closed[0]]), "named twice");
    refused(&compare(&trial, &["one.wtrun", "one.wtrun"]), "named twice");
    refused(&compare(&trial, &[&closed[0]]), "nothing to compare it with");
    refused(&compare(&trial, &[&closed[0], &closed[1], "latest"]), "which are A");
    refused(&compare(&trial, &[&closed[0], "absent"]), "absent");
    refused(&compare(&trial, &[&closed[0], &closed[1], "--metric", "p77"]), "p77");
    refused(&compare(&trial, &[&closed[0], &closed[1], "--max-regression", "0%"]), "--max-regression");
    refused(&compare(&trial, &[&closed[0], &closed[1], "--format", "csv"]), "format");
    refused(&compare(&trial, &[&closed[0], &closed[1], "--seed", "-1"]), "--seed `-1` is negative");
    let target = Target::start(Script::constant(Duration::from_millis(2)));
    let open =
        trial.program().args(["run", &target.url("/"), "-r", "50/s", "-d", "1s", "--format", "json"]).run();
    let open = open.json()["id"].as_str().expect("an id").to_owned();
    refused(&compare(&trial, &[&closed[0], &open]), "closed loop");
    // One run has no recorded end, and one has a damaged plan.
    let folders = trial.place().runs("runs");
    let folder =
        |id: &str| folders.iter().find(|folder| folder.to_string_lossy().ends_with(id)).expect("a folder");
    std::fs::remove_file(folder(&closed[0]).join("run.json")).expect("the test's own");
    refused(&compare(&trial, &[&closed[0], &closed[1]]), "never finished");
    std::fs::write(folder(&closed[1]).join("plan.yaml"), "{").expect("the test's own");
    refused(&compare(&trial, &[&closed[1], &open]), "plan.yaml");
}

#[test]
fn a_run_is_compared_as_soon_as_it_is_over() {
    retry_timing(compare_with_baseline);
}

/// Returns an error if a busy machine leaves the answer open, or has made the baseline slow, too.
fn compare_with_baseline() -> Result<(), TimingMismatch> {
    let is_undecided = |outcome: &Outcome| matches!(outcome.exit, Some(0 | 3 | 4));
    let decided = |outcome: &Outcome| expect_time(!is_undecided(outcome), || format!("{outcome}"));
    let trial = trial();
    let baseline = runs(&trial, 3, 3).join(",");
    let target = Target::start(Script::constant(Duration::from_millis(30)));
    let url = target.url("/");
    let words = ["run", &url, "--baseline", &baseline, "--metric", "p50", "--max-regression", "20%"];
    let reported = trial.program().args(words).args(CLOSED).run();
    decided(&reported)?;
    assert!(reported.expect_exit(1).stdout.contains("\nREGRESSION "), "{reported}");
    let both = |format: &str, file: &str| {
        let more = ["--format", format, "--out", file];
        trial.program().args(words).args(CLOSED).args(more).run()
    };
    let file = trial.place().file("both.md");
    let json = both("json", &file);
    decided(&json)?;
    let doc = json.expect_exit(1).json();
    assert_eq!(
        (&doc["schema"], &doc["verdict"]["status"]),
        (&"wavetank.run/1".into(), &"pass".into()),
        "{json}"
    );
    assert_eq!(doc["comparison"]["answer"], "regression", "{json}");
    let markdown = std::fs::read_to_string(&file).expect("written");
    assert!(markdown.contains("## REGRESSION"), "{markdown}");
    let junit = both("junit", &trial.place().file("both.txt"));
    decided(&junit)?;
    assert_eq!(junit.expect_exit(1).stdout.matches("<testsuite ").count(), 2, "{junit}");
    let before = trial.place().runs("runs").len();
    refused(&both("text", "both.html"), "--baseline");
    refused(&trial.program().args(["run", &url, "--baseline", "absent"]).run(), "absent");
    refused(
        &trial.program().args(["run", &url, "--baseline", &baseline, "--no-archive"]).run(),
        "--baseline",
    );
    assert_eq!(trial.place().runs("runs").len(), before, "nothing was sent");
    Ok(())
}
