//! Truth suite: the counts and results of journeys match the target's behaviour, in the record, in
//! `JUnit`, and read back from the archive.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use wavetank_testkit::{
    RunHarness, RunResult, Script, ScriptAction, Target, TimingMismatch, answer, expect_time, retry_timing,
    retry_timing_of,
};

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

/// Every fifth cart is stale. The first 60 orders are sold, and later ones are refused with 409.
fn shop() -> Target {
    let (carts, orders) = (AtomicU64::new(0), AtomicU64::new(0));
    Target::start(Script::new(move |seen| {
        let sent = match seen.path.as_str() {
            "/cart" if carts.fetch_add(1, Ordering::Relaxed) % 5 == 4 => answer(200, b"stale"),
            "/cart" => answer(200, b"fresh"),
            "/buy" if orders.fetch_add(1, Ordering::Relaxed) < 60 => answer(200, b"yours"),
            "/buy" => answer(409, b"gone"),
            _ => answer(200, b"home"),
        };
        vec![ScriptAction::Send(sent)]
    }))
}

/// 50 browsers with one request, and 100 buyers that all meet between cart and order.
const SHOP: &str = "\
wavetank: 1
name: shop
target: TARGET
scenarios:
  browser: {weight: 1, steps: [{get: /home, name: home}]}
  buyer:
    phases:
      - {name: gather, users: 0 to 100, at: 400/s, sessions: 1 each}
      - {name: rush, pause: 1s}
    steps:
      - group: checkout
        steps:
          - get: /cart
            name: cart
            check: [status = 200, {new: body contains fresh}]
          - rendezvous: doors
            wait: 5s
          - get: /buy
            name: buy
            check: [status = 200 or 409]
            count: {sold: status = 200, refused: status = 409}
phases:
  - {name: crowd, rate: 50/s, for: 1s}
thresholds:
THRESHOLDS
";

/// Runs the shop with these thresholds, and compares the counts with the target's. Returns `None`
/// if the test was recorded as skipped.
fn run(trial: &RunHarness, thresholds: &[&str], exit: i32) -> Option<RunResult> {
    retry_timing_of(|| {
        let target = shop();
        let lines: Vec<_> = thresholds.iter().map(|text| format!("  - {text}")).collect();
        let text = SHOP.replace("TARGET", target.url("").trim_end_matches('/'));
        let file = trial.place().write("shop.yaml", text.replace("THRESHOLDS", &lines.join("\n")));
        let junit = trial.place().file("shop.xml");
        let outcome = trial.load(&file, ["--out", &junit]).run();
        // The times of the rendezvous and the group depend on both sides.
        let missed = |one: &&Value| one["ok"] == false && TIMES.iter().any(|time| one["expr"] == *time);
        let judged = outcome.result();
        let missed = judged.at("thresholds").as_array().and_then(|all| all.iter().find(missed)).cloned();
        expect_time(missed.is_none(), || format!("{missed:?} was not kept\n{outcome}"))?;
        trial.try_check(&outcome, &target, exit)
    })
}

/// Returns the element of a list with `name` in its `field`.
#[track_caller]
fn named<'v>(result: &'v RunResult, list: &str, field: &str, name: &str) -> &'v Value {
    let all = result.at(list).as_array().unwrap_or_else(|| panic!("no list {list}: {result}"));
    all.iter().find(|one| one[field] == name).unwrap_or_else(|| panic!("no {name} in {list}: {result}"))
}

/// The conditions of [`HELD`] that a machine which pauses does not meet.
const TIMES: [&str; 2] = ["skew(doors) < 500ms", "max(checkout) < 6s"];

const HELD: [&str; 9] = [
    "check(new) = 20",
    "check(new) <= 20% in gather",
    "check(status = 200 or 409) = 0",
    "count(sold) = 60",
    "count(refused) < 41",
    TIMES[0],
    TIMES[1],
    "done(buy) = 100",
    "failed < 10%",
];

#[test]
fn what_is_counted_is_what_the_target_did() {
    let trial = trial();
    let Some(result) = run(&trial, &HELD, 0) else { return };
    let count = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{value} is no count: {result}"));
    assert_eq!(result.count("requests.offered"), 250, "{result}");
    let sessions = ["offered", "started", "done", "failed", "dropped", "open"];
    let sessions = sessions.map(|name| result.count(&format!("sessions.{name}")));
    assert_eq!(sessions, [150, 150, 130, 20, 0, 0], "20 carts were stale: {result}");
    let browser = &named(&result, "scenarios", "name", "browser")["sessions"];
    assert_eq!((count(&browser["offered"]), count(&browser["done"])), (50, 50), "{result}");
    assert_eq!(count(&named(&result, "phases", "name", "gather")["sessions"]["failed"]), 20, "{result}");
    let check = named(&result, "checks", "name", "new");
    assert_eq!((count(&check["held"]), count(&check["failed"])), (80, 20), "{result}");
    assert_eq!(count(&named(&result, "checks", "name", "status = 200 or 409")["held"]), 100, "{result}");
    assert_eq!((result.count("counts.sold"), result.count("counts.refused")), (60, 40), "{result}");
    let buy = named(&result, "steps", "name", "buy");
    assert_eq!((count(&buy["status"]["200"]), count(&buy["status"]["409"])), (60, 40), "{result}");
    assert_eq!(count(&named(&result, "steps", "name", "cart")["errors"]["check"]), 20, "{result}");
    let checkout = named(&result, "groups", "name", "checkout");
    assert_eq!(count(&checkout["time_us"]["count"]), 100, "{result}");
    let doors = named(&result, "rendezvous", "name", "doors");
    assert_eq!((count(&doors["met"]), count(&doors["by_wait"]), count(&doors["present"])), (1, 0, 100));
    let meeting = &doors["meetings"][0];
    assert_eq!((count(&meeting["of"]), count(&meeting["sent"])), (100, 100), "{result}");
    assert_eq!(doors["skew_us"], meeting["skew_us"], "{result}");
    let judged = result.at("thresholds").as_array().expect("a list");
    assert!(judged.iter().all(|one| one["ok"] == true), "{result}");
}

#[test]
fn what_broke_is_reported_everywhere() {
    let trial = trial();
    let broken = ["check(new) = 0", "count(sold) >= 61", "skew(doors) < 1us", "failed < 10%"];
    let Some(result) = run(&trial, &broken, 1) else { return };
    let reasons: Vec<_> = result.at("verdict.reasons").as_array().expect("a list").iter().collect();
    assert_eq!(reasons, broken[..3].iter().collect::<Vec<_>>(), "{result}");
    let xml = std::fs::read_to_string(trial.place().file("shop.xml")).expect("it was asked for");
    let cases = ["<testcase ", "<failure"].map(|tag| xml.matches(tag).count());
    // The run, four thresholds, `done > 0` and three checks. Three thresholds and one check failed.
    assert_eq!(cases, [9, 4], "{xml}");
    assert!(
        xml.contains("<testcase name=\"check new\"") && xml.contains("20 of 100 answers failed it"),
        "{xml}"
    );
    assert!(xml.contains("failed: cart · at"), "an example: {xml}");
    let text = trial.program().args(["report", "latest", "--format", "text"]).run();
    let text = &text.expect_exit(0).stdout;
    for said in
        ["fail      new: 20 (20 %) of 100 answers · cart", "refused 40 · sold 60", "doors · 100 of 100 met"]
    {
        assert!(text.contains(said), "`{said}` is not printed: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    // The samples are a failure for each step and class, and at most the ten slowest responses of
    // each step, slowest first.
    let samples = result.at("samples").as_array().expect("a list");
    let failed: Vec<_> = samples.iter().filter(|sample| sample["kind"] == "failed").collect();
    assert_eq!((failed.len(), &failed[0]["step"], &failed[0]["class"]), (1, &"cart".into(), &"check".into()));
    for step in ["home", "cart", "buy"] {
        let slow = samples.iter().filter(|sample| sample["kind"] == "slow" && sample["step"] == step);
        let us: Vec<_> = slow.filter_map(|sample| sample["total_us"].as_f64()).collect();
        assert!(us.len() == 10 && us.is_sorted_by(|a, b| a >= b), "{step}: {us:?}");
        let max = named(&result, "steps", "name", step)["response_us"]["max"].as_f64();
        let sent = samples.iter().filter(|sample| sample["step"] == step).count();
        assert!(step == "cart" || (sent, Some(us[0])) == (10, max), "{step}: {us:?}, {max:?}");
    }
}

#[test]
fn an_archive_alone_reports_the_same() {
    let trial = trial();
    let Some(result) = run(&trial, &HELD, 0) else { return };
    let folder = trial.place().runs("runs").pop().expect("an archive is kept");
    // As after a kill, all sealed intervals are there, but no end is recorded.
    std::fs::remove_file(folder.join("run.json")).expect("it is there");
    let report = trial.program().args(["report", "latest", "--format", "json"]).run();
    let read = report.expect_exit(0).result();
    assert_eq!(read.status(), "incomplete", "{read}");
    for part in ["sessions", "checks", "counts", "groups", "rendezvous", "steps", "scenarios", "samples"] {
        assert_eq!(read.at(part), result.at(part), "{part}");
    }
    let judged = |of: &RunResult| -> Vec<Value> {
        let all = of.at("thresholds").as_array().expect("a list");
        all.iter().map(|one| one["ok"].clone()).collect()
    };
    assert_eq!(judged(&read), judged(&result));
}

/// A stop condition on a check ends the run early, and is the reason why it failed.
#[test]
fn a_check_can_stop_the_run() {
    let attempt = || attempt_to_stop(&trial(), &shop());
    retry_timing(attempt);
}

fn attempt_to_stop(trial: &RunHarness, target: &Target) -> Result<(), TimingMismatch> {
    let text = format!(
        "wavetank: 1\nname: stops\ntarget: {}\nsteps: [{{get: /cart, check: [{{new: body contains fresh}}]}}]\n\
         phases: [{{rate: 50/s, for: 20s}}]\nthresholds: [failed < 50%]\nstop: [check(new) >= 10]\n",
        target.url("").trim_end_matches('/')
    );
    let file = trial.place().write("x.yaml", text);
    let result = trial.try_check(&trial.load(&file, [""; 0]).run(), target, 1)?;
    assert_eq!(
        result.at("verdict.reasons").as_array().map(|reasons| reasons[0].clone()),
        Some("check(new) >= 10".into())
    );
    let failed = result.count("requests.failed");
    assert!(failed >= 10, "{result}");
    expect_time(failed < 60, || format!("it stopped when ten had failed: {result}"))
}

/// The page about the result documents every field of it.
#[test]
fn the_record_is_as_its_page_says() {
    let Some(result) = run(&trial(), &HELD, 0) else { return };
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats/run.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let words: Vec<_> = page.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect();
    let fields = result.value().as_object().expect("an object").keys();
    let new = ["sessions", "checks", "groups", "rendezvous"].map(|list| match result.at(list) {
        Value::Array(all) => all[0].as_object(),
        one => one.as_object(),
    });
    for field in fields.chain(new.into_iter().flatten().flat_map(|one| one.keys())) {
        // `response_us … failed_us` includes the times between these two.
        let times = field.ends_with("_us") && words.contains(&field.trim_end_matches("_us"));
        assert!(words.contains(&field.as_str()) || times, "`{field}` is not on the page");
    }
}

/// No sample contains a secret that the target sends back.
#[test]
fn a_secret_that_comes_back_is_reported_nowhere() {
    let trial = trial();
    let target =
        Target::start(Script::new(|_| vec![ScriptAction::Send(answer(200, b"you said PLANTED-SECRET-17"))]));
    let text = format!(
        "wavetank: 1\nname: echo\ntarget: {}\n\
         steps: [{{post: /login, form: {{pass: \"${{secret:PASS}}\"}}, check: [body contains welcome]}}]\n\
         phases: [{{users: 1, for: 5s, sessions: 3}}]\nafter: [{{get: /, check: [body = bye]}}]\n",
        target.url("").trim_end_matches('/')
    );
    let file = trial.place().write("echo.yaml", text);
    let load = trial.load(&file, [""; 0]).environment("WAVETANK_SECRET_PASS", "PLANTED-SECRET-17");
    let outcome = load.run();
    let result = trial.check(&outcome, &target, 1);
    let reported =
        |pointer: &str| result.value().pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let expected = ["body contains welcome: found you said ***", "you said ***"];
    assert_eq!([reported("/samples/0/detail"), reported("/after/checks/0/found")], expected, "{result}");
    assert!(!format!("{outcome}").contains("PLANTED-SECRET"), "{outcome}");
    for file in trial.place().all_files() {
        let bytes = std::fs::read(&file).expect("a file of the test's own");
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("PLANTED-SECRET"), "{}: {text}", file.display());
    }
}
