//! The ways to hold sockets, each forced by masking the better ones.

use std::time::Duration;

use serde_json::Value;
use wavetank_testkit::{Client, Program, RunHarness, RunResult, Script, Serve, Target, poll_until, skip};

/// A mask, and the way that must result from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    /// `WAVETANK_MASK`.
    pub(crate) mask: &'static str,
    /// The engine that is left.
    pub(crate) engine: &'static str,
    /// Owner of the file tables if one table is too small.
    pub(crate) files: &'static str,
}

/// Returns whether this host supports `way`. If not, records a skip.
pub(crate) fn can(test: &str, trial: &RunHarness, way: Way) -> bool {
    let target = Target::start(Script::constant(Duration::ZERO));
    let words = ["-n", "1", "-c", "1", "--engine", way.engine, "--no-archive"];
    let outcome = masked(trial.load(&target.url("/"), words), way).run();
    if outcome.exit == Some(5) {
        skip(test, &format!("{}: {}", way.engine, outcome.stdout));
    }
    outcome.exit != Some(5)
}

/// Returns the program with the mask applied.
pub(crate) fn masked(program: Program, way: Way) -> Program {
    program.environment("WAVETANK_MASK", way.mask)
}

/// Returns the counts of `serve`.
pub(crate) fn truth(serve: &Serve) -> Value {
    let answer = Client::connect(serve.address()).get("/truth");
    assert_eq!(answer.status, 200);
    serde_json::from_slice(&answer.body).expect("/truth is JSON")
}

/// Checks that the counts of both sides agree, and that nothing failed except for the generator's
/// lateness. `before` is the truth before the run.
#[track_caller]
pub(crate) fn agree(result: &RunResult, before: &Value, serve: &Serve) {
    let grown = |after: &Value, path: &str| {
        let of = |truth: &Value| truth.pointer(path).and_then(Value::as_u64).expect("a count");
        of(after) - of(before)
    };
    result.conserved();
    let opened = result.count("connections.opened") + result.count("setup.sent");
    // A thread of the server may accept a connection late that never had a request.
    let after = poll_until(Duration::from_mins(1), || {
        Some(truth(serve)).filter(|after| grown(after, "/connections/accepted") >= opened)
    });
    let after = after.unwrap_or_else(|| truth(serve));
    assert_eq!(grown(&after, "/connections/accepted"), opened, "{result}");
    assert_eq!(grown(&after, "/requests"), result.sent_total(), "{result}");
    assert_eq!(grown(&after, "/bad_requests"), 0, "{result}");
    assert_eq!(result.count("requests.failed"), 0, "{result}");
    assert_eq!(result.count("connections.failed"), 0, "{result}");
    assert_eq!(result.count("connections.lost"), 0, "{result}");
}

/// Checks that stderr of a run or a server reports the engine and, with a mask, the reason.
#[track_caller]
pub(crate) fn engine_reported(stderr: &str, way: Way) {
    let line = stderr.lines().find(|line| line.starts_with("engine "));
    let line = line.unwrap_or_else(|| panic!("no engine is reported: {stderr}"));
    let rest = line.trim_start_matches("engine").trim();
    assert!(rest.starts_with(way.engine), "{way:?}: {line}");
    let masked = way.mask.split(',').any(|word| word == "uring");
    assert_eq!(rest.contains("uring is masked by WAVETANK_MASK: remove it"), masked, "{way:?}: {line}");
}

/// Checks that the archive of the only run has the way that was used.
#[track_caller]
pub(crate) fn plan_reports(trial: &RunHarness, way: Way) {
    let runs = trial.place().runs("runs");
    let [run] = runs.as_slice() else { panic!("one run: {runs:?}") };
    let plan = std::fs::read_to_string(run.join("plan.yaml")).expect("the archive has a plan");
    assert!(plan.contains(&format!("\nfiles: {}\n", way.files)), "{way:?}: {plan}");
    assert!(plan.contains(&format!("\nengine: {}\n", way.engine)), "{way:?}: {plan}");
}
