//! h2spec, a suite of another author, judges the HTTP/2 of `wavetank serve`, and its h2specd that
//! of the load. Go builds both, so they run in the long form of the tests only.

use std::time::Duration;

use wavetank_testkit::{Outcome, Program, Serve, TestDir, free_port};

use crate::go_program::built;

const PROGRAM: &str = env!("CARGO_BIN_EXE_wavetank");
const PACKAGES: &str = "github.com/summerwind/h2spec/cmd";
const VERSION: &str = "v2.2.1+incompatible";
/// For a run of all cases, of which some wait for two seconds.
const LIMIT: Duration = Duration::from_mins(20);

/// Cases that cannot pass. A port that also speaks HTTP/1.1 answers another preface in HTTP/1.1,
/// and RFC 9113 has no dependencies of streams any more.
const VOID: [&str; 3] = [
    "Sends invalid connection preface",
    "Sends HEADERS frame that depend on itself",
    "Sends PRIORITY frame that depend on itself",
];

/// Returns the names of the cases that have failed. A case that expects the end of the connection
/// has passed if it saw a reset. The suite only knows an orderly end.
fn failed_cases(report: &str) -> Vec<&str> {
    let cases = report.split('\u{d7}').skip(1);
    let details = cases.map(|case| case.split('\u{2714}').next().unwrap_or_default());
    let was_reset =
        |case: &&str| case.contains("Connection closed") && case.contains("read: connection reset by peer");
    details.filter(|case| !was_reset(case)).filter_map(|case| case.lines().next()).collect()
}

/// Checks that all cases have passed, at least `cases`, except those that cannot.
#[track_caller]
fn check_passed(outcome: &Outcome, cases: u64) {
    let summary = outcome.stdout.lines().find(|line| line.contains(" tests, ")).unwrap_or_default();
    let all = summary.split(' ').next().and_then(|number| number.parse::<u64>().ok()).unwrap_or_default();
    let failed = failed_cases(&outcome.stdout);
    let is_void = |line: &&str| VOID.iter().any(|void| line.contains(void));
    assert!(all >= cases && failed.iter().all(is_void), "{all} cases, failed {failed:?}: {outcome}");
}

#[test]
fn serve_passes_h2spec() {
    let place = TestDir::new();
    let Some(suite) = built("serve_passes_h2spec", &format!("{PACKAGES}/h2spec@{VERSION}"), &place) else {
        return;
    };
    let serve = Serve::start(&Program::new(PROGRAM), &["--any"]);
    let port = serve.address().port().to_string();
    let outcome = suite.args(["-h", "127.0.0.1", "-p", &port, "--strict", "-o", "5"]).start().wait(LIMIT);
    check_passed(&outcome, 146);
}

#[test]
fn the_load_passes_h2specd() {
    let place = TestDir::new();
    let Some(suite) = built("the_load_passes_h2specd", &format!("{PACKAGES}/h2specd@{VERSION}"), &place)
    else {
        return;
    };
    let program = Program::new(PROGRAM).arguments()[0].clone();
    // The suite adds the URL of each case.
    let command = format!("{program} run --once --http 2 --timeout 2s");
    let port = free_port().to_string();
    let outcome = suite.args(["-f", &port, "-e", &command]).start().wait(LIMIT);
    check_passed(&outcome, 57);
}

#[test]
fn resets_are_ends() {
    let case = |actual: &str| {
        format!(
            "\u{2714} 1: good\n\u{d7} 2: bad\n  Expected: GOAWAY\n  Connection closed\n  Actual: {actual}\n\n\u{2714} 3: good\n"
        )
    };
    assert_eq!(failed_cases(&case("Timeout")), [" 2: bad"]);
    assert!(
        failed_cases(&case("Error: read tcp 127.0.0.1:1->127.0.0.1:2: read: connection reset by peer"))
            .is_empty()
    );
}
