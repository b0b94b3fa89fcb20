//! Truth suite: the archive of a run contains what was printed.

use std::time::Duration;

use wavetank_testkit::netns::NetNs;
use wavetank_testkit::{RunHarness, RunResult, Script, Target, TimingMismatch, expect_time, retry_timing};

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

fn target() -> Target {
    Target::start(Script::constant(Duration::from_millis(2)))
}

#[test]
fn a_report_says_what_the_run_said() {
    let (trial, target) = (trial(), target());
    let words = ["-c", "4", "-d", "2s", "--warmup", "500ms", "--name", "twice", "--tag", "build=7"];
    let original = trial.load(&target.url("/"), words).run();
    let result = trial.check(&original, &target, 0);
    assert_eq!(result.text("name"), "twice", "{result}");
    let runs = trial.place().runs("runs");
    let folder = runs[0].to_string_lossy().into_owned();
    let name = runs[0].file_name().expect("a folder has a name").to_string_lossy().into_owned();
    for run in ["latest", &folder, &name, result.text("id")] {
        let report = trial.program().args(["report", run, "--format", "json"]).run();
        assert_eq!(report.expect_exit(0).stdout, original.stdout, "report {run}");
    }
    let kept = std::fs::read_to_string(runs[0].join("run.json")).expect("a finished run has its run.json");
    assert_eq!(RunResult::new(serde_json::from_str(&kept).expect("JSON")), result);
}

#[test]
fn a_text_report_is_the_text_of_the_run() {
    let (trial, target) = (trial(), target());
    let original = trial.program().args(["run", &target.url("/"), "-c", "4", "-d", "1s"]).run();
    original.expect_exit(0);
    let report = trial.program().args(["report", "latest", "--format", "text"]).run();
    assert_eq!(report.expect_exit(0).stdout, original.stdout);
    assert!(original.stdout.contains("p99"), "{original}");
}

#[test]
fn out_files_take_their_format_from_the_suffix() {
    let (trial, target) = (trial(), target());
    let (json, text) = (trial.place().file("a.json"), trial.place().file("a.txt"));
    let junit = trial.place().file("a.xml");
    let words = ["-c", "2", "-n", "50", "--no-archive", "--out", &json, "--out", &text, "--out", &junit];
    let outcome = trial.load(&target.url("/"), words).run();
    let result = trial.check(&outcome, &target, 0);
    assert!(trial.place().runs("runs").is_empty(), "--no-archive keeps none");
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    assert_eq!(RunResult::new(serde_json::from_str(&read(&json)).expect("JSON")), result);
    assert!(read(&text).contains("p99"), "{}", read(&text));
    assert!(read(&junit).contains("<testsuite"), "{}", read(&junit));
}

#[test]
fn a_full_disk_is_reported_and_the_load_goes_on() {
    let name = "a_full_disk_is_reported_and_the_load_goes_on";
    if !NetNs::available(name) {
        return;
    }
    retry_timing(fill_the_disk);
}

fn fill_the_disk() -> Result<(), TimingMismatch> {
    let (trial, target) = (trial(), target());
    let folder = trial.place().file("small");
    std::fs::create_dir(&folder).expect("the test's own folder is writable");
    // A disk of 64 kB, filled up to its last page while the load writes to it.
    let url = target.url("/");
    let words =
        format!("run {url} -r 200/s -d 4s --arrivals even --no-probe --format json --runs-dir {folder}/runs");
    let script = format!(
        "mount -t tmpfs -o size=64k none {folder}; \
         mkdir {folder}/runs; dd if=/dev/zero of={folder}/filler bs=4k count=10 2>/dev/null; \
         \"$0\" {words} & run=$!; \
         until ls {folder}/runs/*/intervals/*.jsonl >/dev/null 2>&1; do :; done; \
         dd if=/dev/zero of={folder}/rest bs=512 2>/dev/null || true; \
         wait $run"
    );
    let outcome = NetNs::mounts(&trial.program().arguments()[0], &script).run();
    let result = outcome.result();
    result.conserved().agrees_with(&target.settled());
    let behind = result.count_or_zero("dropped_by.behind");
    assert_eq!(result.count("requests.done") + behind, 800, "the load continues: {result}");
    let reported = format!("{} {}", outcome.stderr, result).to_lowercase();
    assert!(
        reported.contains("no space") || reported.contains("disk"),
        "and the disk is reported: {outcome}"
    );
    expect_time(behind == 0, || format!("{behind} requests were dropped as behind: {outcome}"))
}
