//! `wavetank search` against targets with a known capacity, and the arguments that it rejects.

use std::time::Duration;

use serde_json::Value;
use wavetank_testkit::{
    Outcome, Program, ReceivedRequest, Script, ScriptAction, Serve, Signal, Target, TestDir, TimingMismatch,
    answer, expect_time, retry_timing_of,
};

/// Two workers of 4 ms, which serve 500 requests per second.
const TIER: &str = "/tier/simple?workers=2&work=4ms";
/// Short levels, since these tests are about the course of a search and not about its precision.
const SHORT: &str = "-d 300ms --warmup 0s --settle 0s --step 5% --threads 1";

fn search(place: &TestDir, url: &str, words: &str) -> Program {
    let words: Vec<&str> = words.split_whitespace().collect();
    Program::new(env!("CARGO_BIN_EXE_wavetank")).args(["search", url]).args(words).in_folder(place.path())
}

fn serve() -> Serve {
    Serve::start(&Program::new(env!("CARGO_BIN_EXE_wavetank")), &["--threads", "1"])
}

/// Returns the folder of the only search.
fn folder(place: &TestDir) -> String {
    let runs = place.runs("runs");
    assert_eq!(runs.len(), 1, "{runs:?}");
    runs[0].display().to_string()
}

/// Checks what every search must have, whatever it found.
#[track_caller]
fn check(outcome: &Outcome, exit: i32, end: &str) -> Value {
    outcome.expect_exit(exit);
    let doc = outcome.json();
    assert_eq!(
        (&doc["schema"], &doc["answer"]["end"]),
        (&"wavetank.search/1".into(), &end.into()),
        "{outcome}"
    );
    assert_eq!(doc["answer"]["exit"], exit, "{outcome}");
    let counted: u64 = doc["curve"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|point| point["runs"].as_u64().expect("a count") + point["generator"].as_u64().expect("a count"))
        .sum();
    let runs = doc["runs"].as_array().expect("a list");
    let decided = runs.iter().filter(|run| run["result"] != "undecided").count() as u64;
    assert_eq!(counted, decided, "every run is in the curve: {outcome}");
    for run in runs {
        let count = |name: &str| run["requests"][name].as_u64().expect("a count");
        assert_eq!(
            count("offered"),
            count("done") + count("failed") + count("dropped") + count("open"),
            "{run}"
        );
    }
    doc
}

/// A complaint if this machine was too slow for the search, which then reports its own generator as
/// the limit.
fn expect_timely(outcome: &Outcome) -> Result<(), TimingMismatch> {
    let is_late = outcome.exit == Some(3) && outcome.json()["answer"]["end"] == "generator";
    expect_time(!is_late, || format!("the generator was the limit\n{outcome}"))
}

/// Repeats a search for which this machine was too slow. Returns `None` if the test was recorded as
/// skipped.
fn timely(search: &Program) -> Option<Outcome> {
    retry_timing_of(|| {
        let outcome = search.clone().run();
        expect_timely(&outcome).map(|()| outcome)
    })
}

#[test]
fn a_stated_capacity_is_found() {
    let serve = serve();
    let found = retry_timing_of(|| {
        let place = TestDir::new();
        let words = format!("{SHORT} --threshold p50<20ms --from 50/s --to 5k/s --format json");
        let outcome = search(&place, &serve.url(TIER), &words).run();
        expect_timely(&outcome)?;
        let doc = check(&outcome, 0, "found");
        let end = |name: &str| doc["answer"][name].as_f64().expect("a number");
        assert!(end("low") < end("high") && end("high") <= 1_000.0, "{outcome}");
        // Levels of 300 ms allow a tenth more, and a busy machine allows less.
        expect_time(end("low") >= 100.0, || format!("{outcome}"))?;
        Ok((place, outcome, doc))
    });
    let Some((place, outcome, doc)) = found else { return };
    assert!(doc["answer"]["headline"].as_str().is_some_and(|line| line.starts_with("knee ")), "{outcome}");
    let stages: Vec<_> = doc["runs"].as_array().expect("a list").iter().map(|run| &run["stage"]).collect();
    assert_eq!(stages[0], "climb");
    assert!(stages.iter().filter(|stage| **stage == "measure").count() >= 15, "{stages:?}");
    // Each run is a regular archive, and none of them hides other runs.
    let folder = folder(&place);
    let report = |words: &[&str]| {
        Program::new(env!("CARGO_BIN_EXE_wavetank"))
            .args(["report"])
            .args(words)
            .in_folder(place.path())
            .run()
    };
    for run in doc["runs"].as_array().expect("a list").iter().take(2) {
        let archive = format!("{folder}/runs/{}", run["archive"].as_str().expect("it was kept"));
        let again = report(&[&archive, "--format", "json"]);
        assert_eq!(again.expect_exit(0).json()["requests"], run["requests"]);
    }
    report(&["latest"]).expect_exit(2);
    let again = report(&[doc["id"].as_str().expect("an id"), "--format", "json"]);
    assert_eq!(again.expect_exit(0).json(), doc, "by its printed id");
    for (format, begins) in
        [("text", "knee "), ("markdown", "## knee "), ("csv", "level,"), ("junit", "<?xml")]
    {
        let reported = report(&[&folder, "--format", format]);
        assert!(reported.expect_exit(0).stdout.starts_with(begins), "{reported}");
    }
    report(&[&folder, "--format", "hgrm"]).expect_exit(2);
    report(&[&folder, "--format", "html", "--lang", "zh"]).expect_exit(0);
    let prune = |words: &[&str]| {
        let program = Program::new(env!("CARGO_BIN_EXE_wavetank")).args(["runs", "prune", "--keep", "0"]);
        program.args(words).in_folder(place.path()).run()
    };
    let asked = prune(&[]);
    assert!(asked.expect_exit(0).stdout.contains("would remove 1 search, "), "{asked}");
    let removed = prune(&["--yes"]);
    assert!(removed.expect_exit(0).stdout.contains("removed 1 search, "), "{removed}");
    assert_eq!(place.runs("runs").len(), 0, "{removed}");
}

#[test]
fn limits_are_answers_too() {
    let (place, serve) = (TestDir::new(), serve());
    let words = format!("{SHORT} --threshold p50<500ms --from 20/s --to 40/s --format json --no-archive");
    let Some(above) = timely(&search(&place, &serve.url("/"), &words)) else { return };
    let doc = check(&above, 0, "above");
    assert_eq!((&doc["answer"]["low"], &doc["answer"]["high"]), (&40.into(), &Value::Null));
    let words = format!("{SHORT} --threshold p50<1us --from 20/s --format json --no-archive");
    let doc = check(&search(&place, &serve.url("/"), &words).run(), 1, "below");
    assert_eq!(doc["answer"]["knee"], Value::Null);
    assert_eq!(place.runs("runs").len(), 0, "--no-archive keeps none");
}

#[test]
fn users_and_files_are_searched() {
    let (place, serve) = (TestDir::new(), serve());
    // With two workers, more than a few users wait for each other.
    let words = format!("{SHORT} --of users --threshold p50<30ms --to 200 --format json");
    let Some(found) = timely(&search(&place, &serve.url(TIER), &words)) else { return };
    let doc = check(&found, 0, "found");
    let ends = (doc["answer"]["low"].as_f64(), doc["answer"]["high"].as_f64());
    assert!(ends.0.is_some_and(|low| low >= 1.0) && ends.1.is_some_and(|high| high <= 100.0), "{ends:?}");
    let text = format!(
        "wavetank: 1\ntarget: {}\nsteps: [{{get: '{TIER}'}}]\nthresholds: [p50 < 20ms]\nphases:\n  - {{rate: 1/s to 9/s, for: 1m, name: \
         up}}\n  - {{rate: 9/s, for: 10m, name: flat}}\n",
        serve.url("")
    );
    let file = place.write("tier.yaml", text);
    let words = format!("{SHORT} --from 50/s --to 100/s --format json --no-archive");
    let several = search(&place, &file, &words).run();
    several.expect_exit(2);
    assert!(several.stdout.contains("search_phases"), "{several}");
    let Some(above) = timely(&search(&place, &file, &format!("{words} --phase flat"))) else { return };
    let doc = check(&above, 0, "above");
    assert!(doc["notes"].to_string().contains("left out: up"), "{doc}");
}

#[test]
fn a_signal_ends_the_level_and_reports_the_bracket() {
    let place = TestDir::new();
    let target = Target::start(Script::constant(Duration::from_millis(2)));
    let words = "--threshold p50<900ms -d 60s --from 50/s --format json --no-probe --threads 1";
    let running = search(&place, &target.url("/"), words).start();
    target.wait_for("load", Duration::from_mins(1), |truth| truth.requests >= 20);
    running.signal(Signal::INT);
    let outcome = running.wait(Duration::from_mins(3));
    let doc = check(&outcome, 130, "signal");
    let folder = folder(&place);
    let kept = std::fs::read_to_string(format!("{folder}/search.json")).expect("nothing is lost");
    assert_eq!(serde_json::from_str::<Value>(&kept).expect("JSON"), doc);
}

/// If `search.json` cannot be written, the reason is reported, and the folder is not called an
/// archive of the answer.
#[test]
fn an_answer_that_cannot_be_kept_is_reported() {
    let place = TestDir::new();
    let target = Target::start(Script::constant(Duration::from_millis(2)));
    let words = "--threshold p50<900ms -d 60s --from 50/s --no-probe --threads 1";
    let running = search(&place, &target.url("/"), words).start();
    target.wait_for("load", Duration::from_mins(1), |truth| truth.requests >= 20);
    let folder = folder(&place);
    // The file cannot be created, as on a full disk.
    std::fs::create_dir(format!("{folder}/search.json.partial")).expect("the folder is writable");
    running.signal(Signal::INT);
    let outcome = running.wait(Duration::from_mins(3));
    outcome.expect_exit(130);
    assert!(
        outcome.stdout.starts_with("interrupted by a signal: "),
        "the answer is printed all the same: {outcome}"
    );
    let says = |what: &str| outcome.stderr.contains(what);
    assert!(says("its result is reported without an archive\nhint: "), "{outcome}");
    assert!(says("without the result: search.json could not be written"), "{outcome}");
}

/// A dead target responds to no further run, so the search ends without an answer.
#[test]
fn a_target_that_dies_ends_the_search() {
    let place = TestDir::new();
    let target = Target::start(Script::constant(Duration::from_millis(2)));
    let words = format!(
        "{SHORT} --threshold p50<900ms --timeout 1s --from 50/s --to 100k/s --format json --no-probe"
    );
    let running = search(&place, &target.url("/"), &words).start();
    target.wait_for("the first level", Duration::from_mins(1), |truth| truth.requests >= 60);
    drop(target);
    let outcome = running.wait(Duration::from_mins(3));
    let doc = check(&outcome, 4, "target");
    let headline = doc["answer"]["headline"].as_str().expect("a text");
    assert!(headline.starts_with("no answer: the target stopped answering after "), "{headline}");
    let runs = doc["runs"].as_array().expect("a list");
    let silent = runs.iter().rev().take_while(|run| run["requests"]["done"] == 0).count();
    assert!((2..=4).contains(&silent), "{outcome}");
    assert_eq!(runs.last().map(|run| (&run["stage"], &run["level"])), Some((&"check".into(), &50.into())));
    assert!(
        doc["answer"]["low"].as_f64().is_some_and(|low| low >= 50.0),
        "the known part is reported: {outcome}"
    );
}

/// The search does not wait for a target that hangs, although requests would time out only after a
/// minute.
#[test]
fn a_target_that_hangs_ends_the_search_soon() {
    if wavetank_testkit::is_left_to_long_form("a_target_that_hangs_ends_the_search_soon") {
        return;
    }
    let place = TestDir::new();
    // The target responds for half a second at 50/s, which is the first level, and then not at all.
    let hangs = |seen: &ReceivedRequest| {
        vec![if seen.number <= 25 { ScriptAction::Send(answer(200, b"ok")) } else { ScriptAction::Silence }]
    };
    let target = Target::start(Script::new(hangs));
    let words = format!("{SHORT} --threshold p50<900ms --from 50/s --format json --no-probe");
    let running = search(&place, &target.url("/"), &words).start();
    let doc = check(&running.wait(Duration::from_mins(3)), 4, "target");
    let runs = doc["runs"].as_array().expect("a list");
    let done: Vec<_> = runs.iter().map(|run| &run["requests"]["done"]).collect();
    assert_eq!(done, [25, 0, 0, 0], "the first level, twice the second, the first again: {doc}");
    assert_eq!(doc["answer"]["low"], 50, "the known part is reported: {doc}");
    assert!(doc["took_s"].as_f64().is_some_and(|took| took < 120.0), "{doc}");
    // A run without events has no such file.
    let is_silent = |run: &Value| {
        let archive = run["archive"].as_str().expect("it was kept");
        let events = std::fs::read_to_string(format!("{}/runs/{archive}/events.jsonl", folder(&place)));
        events.is_ok_and(|events| events.contains("\"silent\""))
    };
    assert_eq!(runs.iter().map(is_silent).collect::<Vec<_>>(), [false, true, true, true], "{doc}");
}

/// Reasons other than the target that end a search without an answer.
#[test]
fn a_search_that_ends_early_is_incomplete() {
    let (place, serve) = (TestDir::new(), serve());
    let words = format!("{SHORT} --threshold p50<900ms --from 50/s --max-time 100ms --format json");
    let doc = check(&search(&place, &serve.url("/"), &words).run(), 4, "time");
    assert_eq!(doc["runs"], Value::Array(Vec::new()), "there was no time for a run: {doc}");
    // The file's own load has no effect. Levels are as long as the percentiles need, and all
    // messages refer to them.
    let text = format!(
        "wavetank: 1\ntarget: {}\nsteps: [{{get: /}}]\nthresholds: [p99 < 900ms in two]\n\
         phases: [{{name: one, rate: 9/s, for: 9s}}, {{name: two, rate: 9/s, for: 9s}}]\n",
        serve.url("")
    );
    let file = place.write("short.yaml", text);
    let reported = search(&place, &file, "--phase two --from 1k/s --to 2k/s --max-time 1ms").run();
    assert!(!reported.expect_exit(4).stderr.contains("needs about"), "{reported}");
    let about = "about 25 runs of 10.0 s, 5 m 08 s; --max-time ends it after 1.00 ms";
    assert!(reported.stderr.contains(about), "{reported}");
    let text = format!(
        "wavetank: 1\ntarget: {}\nbefore: [{{get: /status/500}}]\nsteps: [{{get: /}}]\nthresholds: [p50 < 900ms]\nphases: [{{rate: \
         1/s, for: 1s}}]\n",
        serve.url("")
    );
    let file = place.write("before.yaml", text);
    let words = format!("{SHORT} --from 50/s --format json");
    let doc = check(&search(&place, &file, &words).run(), 4, "broken");
    assert_eq!(doc["runs"].as_array().map(Vec::len), Some(1), "{doc}");
    assert!(doc["answer"]["limit"].as_str().is_some_and(|limit| limit.contains("status 500")), "{doc}");
}

#[test]
fn what_cannot_be_searched_is_refused_in_one_line() {
    let place = TestDir::new();
    let url = "http://127.0.0.1:9/";
    let trace = place.write(
        "pause.yaml",
        "wavetank: 1\ntarget: http://127.0.0.1:9\nsteps: [{get: /}]\nthresholds: [p99 < 9ms]\nphases: [{users: 3, for: 10s}]\n",
    );
    let bare = place.write("bare.yaml", "wavetank: 1\ntarget: http://127.0.0.1:9\nsteps: [{get: /}]\n");
    let broken = place.write("broken.yaml", "wavetank: 1\ntarget: http://127.0.0.1:9\nstepps: [{get: /}]\n");
    let reported = search(&place, &broken, "--threshold p99<9ms --quiet").run();
    reported.expect_exit(2);
    assert!(reported.stderr.contains("stepps"), "{reported}");
    assert_eq!(reported.stderr.matches("hint").count(), 1, "reported once: {reported}");
    let two = place.write(
        "two.yaml",
        "wavetank: 1\ntarget: http://127.0.0.1:9\nsteps: [{get: /, name: a}]\nthresholds: [p99(a) < 50ms in one]\n\
         phases: [{name: one, rate: 10/s, for: 10s}, {name: two, rate: 20/s, for: 10s}]\n",
    );
    let cases = [
        (url, "", 2, "threshold_missing"),
        (url, "--threshold p99<0ms", 2, "condition_value"),
        (url, "--threshold done_rate>1k/s", 2, "threshold_unsearchable"),
        (url, "--threshold p99<9ms --from 2k/s --to 1k/s", 2, "search_limits"),
        (url, "--threshold p99<9ms --levels 2", 2, "search_limits"),
        (url, "--threshold p99<9ms --repeats 1", 2, "search_limits"),
        (url, "--threshold p99<9ms --step 90%", 2, "search_limits"),
        (url, "--threshold p99<9ms --levels 50 --repeats 9", 2, "search_limits"),
        (url, "--threshold p99<9ms --from 5", 2, "unit_missing"),
        (url, "--threshold p99<9ms --of users --from 5/s", 2, ""),
        (url, "--threshold p99<9ms --of speed", 2, "value_unknown"),
        (url, "--threshold p99<9ms -r 5/s", 2, "conflict"),
        (url, "--threshold p99<9ms -n 5", 2, "conflict"),
        (url, "--threshold p99<9ms --once", 2, "conflict"),
        (url, "--threshold p99<9ms --phase x", 2, "conflict"),
        (url, "--threshold p99<9ms --of users -c 9", 2, "conflict"),
        (url, "--threshold p99<9ms --format hlog", 2, "format_of_runs"),
        ("ftp://127.0.0.1/", "--threshold p99<9ms", 2, ""),
        (&trace, "", 2, "search_phases"),
        (&trace, "--of users --phase x", 2, "phase_unknown"),
        (&two, "--phase two", 2, "phase_unknown"),
        (&two, "--phase one --scale 1/10", 2, "conflict"),
        (&two, "--phase one --speed 10x", 2, "conflict"),
        (&bare, "", 2, "threshold_missing"),
    ];
    for (goal, words, exit, code) in cases {
        let reported = search(&place, goal, &format!("{words} --quiet")).run();
        reported.expect_exit(exit);
        let lines = |start: &str| reported.stderr.lines().filter(|line| line.starts_with(start)).count();
        assert_eq!((lines("error: "), lines("hint: ")), (1, 1), "{words}: {reported}");
        assert_eq!(reported.stdout, "", "{reported}");
        if words.contains("--format") {
            continue;
        }
        let reported = search(&place, goal, &format!("{words} --quiet --format json")).run();
        reported.expect_exit(exit);
        assert!(code.is_empty() || reported.json()["code"] == code, "{words}: {reported}");
    }
    assert_eq!(place.runs("runs").len(), 0, "nothing is left of them");
}
