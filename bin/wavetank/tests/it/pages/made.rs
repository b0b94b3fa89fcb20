//! [`Made`]: pages of real runs of every kind.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use wavetank_testkit::{
    Outcome, ReceivedRequest, RunHarness, Script, ScriptAction, Serve, Signal, Target, answer,
};

/// Two scenarios with a ramp, checks and a missed threshold.
const SHOP: &str = r#"
wavetank: 1
name: shop
target: TARGET
probe: false
scenarios:
  browse:
    steps:
      - get: /list
        extract: {id: json $.id}
        check: ["json $.text = \"yes\""]
      - think: 5ms
      - get: /item/${id}
        name: item
    phases:
      - {name: warm, rate: 20/s, for: 1s, warmup: true}
      - {name: full, rate: 20/s to 60/s, for: 2s}
  pay:
    steps: [{post: /pay, json: {sum: 3}}]
    phases: [{rate: 20/s, for: 3s}]
thresholds: [failed < 1%, p99(item) < 10us, p50 < 1s]
"#;
const HOLD: &str = "
wavetank: 1
name: holds
target: TARGET
steps: [{get: /}, {think: 1s}]
phases:
  - {name: open, hold: 0 to 300, at: 300/s}
  - {name: keep, hold: 300, for: 2s}
  - {name: close, hold: 300 to 0, at: 300/s}
thresholds: [held >= 300 in keep, lost = 0]
";
/// Names that the test replaces, and long ones.
const HOSTILE: &str = "
wavetank: 1
name: evilname
target: TARGET
probe: false
steps:
  - get: /longlonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglong
    name: evilstep
  - get: /a
    name: longlonglonglonglonglonglonglonglonglonglonglonglonglonglong
  - get: /%3Cscript%3E
phases: [{rate: 20/s, for: 2s}]
";

/// A page, and the charts that must be on it.
pub(crate) struct Made {
    pub(crate) name: &'static str,
    pub(crate) page: PathBuf,
    pub(crate) charts: &'static [&'static str],
    _trial: RunHarness,
}

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

/// Makes the page of this trial's last run.
fn page(name: &'static str, trial: RunHarness, words: &[&str], charts: &'static [&'static str]) -> Made {
    let page = trial.place().file("page.html");
    let report = trial.program().args(["report", "latest", "--out", &page]).args(words).run();
    report.expect_exit(0);
    Made { name, page: page.into(), charts, _trial: trial }
}

/// Makes the pages of all kinds in parallel.
pub(crate) fn all() -> Vec<Made> {
    let kinds = [passes, fails, holds, encrypted, killed, hostile, compared, one_a_side, searched];
    thread::scope(|scope| {
        let making: Vec<_> = kinds.into_iter().map(|kind| scope.spawn(kind)).collect();
        making.into_iter().flat_map(|one| one.join().expect("the page can be made")).collect()
    })
}

fn passes() -> Vec<Made> {
    let (trial, target) = (trial(), Target::start(Script::bimodal(ms(2), ms(40), 50)));
    let words = ["-r", "200/s", "-d", "3s", "--warmup", "1s", "--threshold", "p50 < 10s"];
    ran(&trial.load(&target.url("/"), words).run());
    vec![page(
        "a run that passes",
        trial,
        &[],
        &["summary-rate", "rate", "heat", "statuses", "spectrum", "busy", "lag"],
    )]
}

/// Failing checks, error responses and a missed threshold, in both languages.
fn fails() -> Vec<Made> {
    let answers = |seen: &ReceivedRequest| {
        let status = if seen.number.is_multiple_of(5) { 503 } else { 200 };
        vec![ScriptAction::Wait(ms(3)), ScriptAction::Send(answer(status, br#"{"id": 7, "text": "no"}"#))]
    };
    let (trial, target) = (trial(), Target::start(Script::new(answers)));
    run(&trial, SHOP, &target.url(""));
    let charts = &["rate", "heat", "statuses", "errors", "spectrum"];
    let chinese = self::trial();
    let from = trial.place().runs("runs").remove(0);
    let out = chinese.place().file("page.html");
    trial
        .program()
        .args(["report", &from.to_string_lossy(), "--lang", "zh", "--out", &out])
        .run()
        .expect_exit(0);
    let chinese = Made { name: "the same in Chinese", page: out.into(), charts, _trial: chinese };
    vec![page("a file that fails", trial, &[], charts), chinese]
}

fn holds() -> Vec<Made> {
    let trial = trial();
    let serve = Serve::start(&trial.program(), &["--connections", "600"]);
    run(&trial, HOLD, &serve.url(""));
    vec![page(
        "held connections",
        trial,
        &[],
        &["summary-held", "held", "comings", "rate", "heat", "host-sockets"],
    )]
}

fn encrypted() -> Vec<Made> {
    let trial = trial();
    let serve = Serve::start(&trial.program(), &["--tls"]);
    let url = format!("https://{}/bytes/64", serve.address());
    let words = ["--insecure", "-r", "100/s", "-d", "2s", "--no-keepalive"];
    ran(&trial.load(&url, words).run());
    vec![page("TLS", trial, &[], &["rate", "heat", "spectrum"])]
}

/// A run that was killed before its end.
fn killed() -> Vec<Made> {
    let (trial, target) = (trial(), Target::start(Script::constant(ms(5))));
    let run = trial.load(&target.url("/"), ["-r", "50/s", "-d", "1m", "--no-probe"]).start();
    target.wait_for("three seconds of load", Duration::from_mins(1), |truth| truth.requests > 150);
    run.signal(Signal::KILL);
    run.wait(Duration::from_mins(1));
    vec![page("a killed run", trial, &[], &["rate", "heat", "statuses"])]
}

/// Two sides of several runs, one three times as slow and with a very long name, in both languages.
fn compared() -> Vec<Made> {
    const CHARTS: &[&str] = &["ratios", "rate", "median", "tail", "spectrum"];
    let trial = trial();
    let [a, b] = sides(&trial, 2);
    let english = compare(&trial, "a comparison", &[&a, &b, "--max-regression", "10%"], CHARTS);
    let chinese = compare(&trial, "a comparison in Chinese", &[&a, &b, "--lang", "zh"], CHARTS);
    vec![english, chinese]
}

/// Two sides that cannot be distinguished, with a warning that their loads differ.
fn one_a_side() -> Vec<Made> {
    let trial = trial();
    let [a, b] = sides(&trial, 1);
    // Nothing is judged, so there are no ratios to draw.
    vec![compare(&trial, "a comparison of two runs", &[&a, &b], &["rate", "spectrum"])]
}

/// Makes `many` runs per side. Returns their ids, joined as `compare` accepts them.
fn sides(trial: &RunHarness, many: usize) -> [String; 2] {
    let long = "long-".repeat(12);
    [("quick", 3, "100/s"), (long.as_str(), 9, "80/s")].map(|(name, millis, rate)| {
        let target = Target::start(Script::constant(ms(millis)));
        let one = |_| {
            let words = ["-r", rate, "-d", "2s", "--name", name];
            let outcome = trial.load(&target.url("/"), words).run();
            ran(&outcome);
            outcome.json()["id"].as_str().expect("a run has an id").to_owned()
        };
        (0..many).map(one).collect::<Vec<_>>().join(",")
    })
}

/// Makes the page of a comparison, in its own folder.
fn compare(trial: &RunHarness, name: &'static str, words: &[&str], charts: &'static [&'static str]) -> Made {
    let own = self::trial();
    let page = own.place().file("page.html");
    let outcome = trial.program().args(["compare"]).args(words).args(["--out", &page]).run();
    assert!(matches!(outcome.exit, Some(0 | 1 | 4)), "{outcome}");
    Made { name, page: page.into(), charts, _trial: own }
}

/// A search that finds a stated capacity, unless the machine is too busy, in both languages.
fn searched() -> Vec<Made> {
    const CHARTS: &[&str] = &["latency-load"];
    let (english, chinese) = (trial(), trial());
    let serve = Serve::start(&english.program(), &["--threads", "1"]);
    let pages = [english.place().file("page.html"), chinese.place().file("page.html")];
    let url = serve.url("/tier/simple?workers=2&work=4ms");
    let words = ["-d", "300ms", "--warmup", "0s", "--settle", "0s", "--step", "5%", "--threads", "1"];
    let search = english.program().args(["search", &url]).args(words);
    let search = search.args(["--threshold", "p50 < 20ms", "--from", "50/s", "--to", "5k/s"]);
    let outcome = search.args(["--lang", "zh", "--out", &pages[1]]).run();
    assert!(matches!(outcome.exit, Some(0 | 1 | 3 | 4)), "{outcome}");
    let folder = english.place().runs("runs").remove(0);
    let report = english.program().args(["report", &folder.to_string_lossy(), "--out", &pages[0]]);
    report.run().expect_exit(0);
    let [page, page_chinese] = pages.map(PathBuf::from);
    vec![
        Made { name: "a search", page, charts: CHARTS, _trial: english },
        Made { name: "a search in Chinese", page: page_chinese, charts: CHARTS, _trial: chinese },
    ]
}

/// Names and responses that contain markup, and long ones. A file with such names is rejected, so
/// they are written into an archive.
fn hostile() -> Vec<Made> {
    const MARKUP: &str =
        "<script>window.alerted=1</script><img src=x onerror=window.alerted=2>'></svg></style>";
    let body = "</pre><script>window.alerted=3</script>\u{202e}<img src=http://127.0.0.1:1/ onerror=window.alerted=4>";
    let answers = move |_: &ReceivedRequest| vec![ScriptAction::Send(answer(500, body.as_bytes()))];
    let (trial, target) = (trial(), Target::start(Script::new(answers)));
    run(&trial, HOSTILE, &target.url(""));
    let folder = trial.place().runs("runs").remove(0);
    for file in ["run.json", "environment.json"].map(|name| folder.join(name)) {
        let reported = std::fs::read_to_string(&file).expect("the archive has it");
        let reported = reported.replace("evilname", MARKUP).replace("evilstep", MARKUP);
        std::fs::write(&file, reported).expect("the archive is the test's own");
    }
    vec![page("hostile names", trial, &[], &["rate", "errors"])]
}

/// Runs this file. The page shows the result, whatever it is, also on a busy machine.
#[track_caller]
fn run(trial: &RunHarness, text: &str, target: &str) {
    let file = trial.place().write("file.yaml", text.replace("TARGET", target));
    ran(&trial.load::<&str>(&file, []).run());
}

#[track_caller]
fn ran(outcome: &Outcome) {
    let loaded = outcome.json()["requests"]["sent"].as_u64().is_some_and(|sent| sent > 0);
    assert!(loaded && matches!(outcome.exit, Some(0 | 1 | 3)), "{outcome}");
}

const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}
