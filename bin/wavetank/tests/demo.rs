//! `wavetank demo`: what a newcomer sees first.

use wavetank_testkit::{Program, RunResult, Trial};

#[test]
fn the_demo_shows_what_a_closed_view_hides() {
    let trial = Trial::new(env!("CARGO_BIN_EXE_wavetank"));
    let outcome = trial.program().args(["demo"]).run();
    outcome.expect_exit(0);
    assert!(!outcome.stdout.is_empty(), "{outcome}");
    let runs = trial.place().runs("runs");
    assert_eq!(runs.len(), 2, "a closed and an open run: {outcome}");
    let told = format!("{}{}", outcome.stdout, outcome.stderr);
    for run in &runs {
        let name = run.file_name().expect("a folder has a name").to_string_lossy();
        assert!(told.contains(&*name) || told.contains("runs"), "where the archive lies: {outcome}");
        let report: Program = trial.program().args(["report", &name, "--format", "json"]);
        let result: RunResult = report.run().expect_exit(0).result();
        result.conserved();
        assert_eq!(result.count("requests.failed"), 0, "{result}");
        assert!(result.count("requests.done") > 1_000, "{result}");
    }
}
