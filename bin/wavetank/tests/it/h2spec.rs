//! h2spec, a suite of another author, judges the HTTP/2 of `wavetank serve`, and its h2specd that
//! of the load. Go builds both, so they run in the long form of the tests only.

use std::time::Duration;

use wavetank_testkit::{Outcome, Program, Serve, TestDir, free_port, is_left_to_long_form, skip};

const PROGRAM: &str = env!("CARGO_BIN_EXE_wavetank");
const MODULE: &str = "github.com/summerwind/h2spec";
const VERSION: &str = "v2.2.1+incompatible";
/// Building it, and a run of all cases, of which some wait for two seconds.
const LIMIT: Duration = Duration::from_mins(20);

/// Builds a program of the suite; reports why if it cannot.
fn built(test: &str, name: &str, place: &TestDir) -> Option<Program> {
    if is_left_to_long_form(test) {
        return None;
    }
    let Some(go) = Program::foreign("go") else {
        skip(test, "go is not installed");
        return None;
    };
    let package = format!("{MODULE}/cmd/{name}@{VERSION}");
    let folder = place.path().display().to_string();
    let outcome = go.args(["install", &package]).environment("GOBIN", &folder).start().wait(LIMIT);
    if outcome.exit != Some(0) {
        skip(test, &format!("{name} cannot be built: {}", outcome.stderr.lines().last().unwrap_or_default()));
        return None;
    }
    Some(
        Program::foreign("env").expect("env is always there").args([place
            .path()
            .join(name)
            .display()
            .to_string()]),
    )
}

/// Cases that cannot pass. A port that also speaks HTTP/1.1 answers another preface in HTTP/1.1,
/// and RFC 9113 has no dependencies of streams any more.
const VOID: [&str; 3] = [
    "Sends invalid connection preface",
    "Sends HEADERS frame that depend on itself",
    "Sends PRIORITY frame that depend on itself",
];

/// Checks that all cases have passed, at least `cases`, except those that cannot.
#[track_caller]
fn check_passed(outcome: &Outcome, cases: u64) {
    let summary = outcome.stdout.lines().find(|line| line.contains(" tests, ")).unwrap_or_default();
    let all = summary.split(' ').next().and_then(|number| number.parse::<u64>().ok()).unwrap_or_default();
    let failed: Vec<&str> =
        outcome.stdout.lines().filter_map(|line| line.trim().strip_prefix('\u{d7}')).collect();
    let is_void = |line: &&str| VOID.iter().any(|void| line.contains(void));
    assert!(all >= cases && failed.iter().all(is_void), "{all} cases, failed {failed:?}: {outcome}");
}

#[test]
fn serve_passes_h2spec() {
    let place = TestDir::new();
    let Some(suite) = built("serve_passes_h2spec", "h2spec", &place) else { return };
    let serve = Serve::start(&Program::new(PROGRAM), &["--any"]);
    let port = serve.address().port().to_string();
    let outcome = suite.args(["-h", "127.0.0.1", "-p", &port, "--strict", "-o", "5"]).start().wait(LIMIT);
    check_passed(&outcome, 146);
}

#[test]
fn the_load_passes_h2specd() {
    let place = TestDir::new();
    let Some(suite) = built("the_load_passes_h2specd", "h2specd", &place) else { return };
    let program = Program::new(PROGRAM).arguments()[0].clone();
    // The suite adds the URL of each case.
    let command = format!("{program} run --once --http 2 --timeout 2s");
    let port = free_port().to_string();
    let outcome = suite.args(["-f", &port, "-e", &command]).start().wait(LIMIT);
    check_passed(&outcome, 57);
}
