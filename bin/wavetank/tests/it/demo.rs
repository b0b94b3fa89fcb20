//! `wavetank demo`: the first output that a newcomer sees.

use wavetank_testkit::netns::NetNs;
use wavetank_testkit::{Program, RunHarness, RunResult};

#[test]
fn the_demo_shows_what_a_closed_view_hides() {
    let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    let outcome = trial.program().args(["demo"]).run();
    outcome.expect_exit(0);
    assert!(!outcome.stdout.is_empty(), "{outcome}");
    let runs = trial.place().runs("runs");
    assert_eq!(runs.len(), 2, "a closed and an open run: {outcome}");
    let reported = format!("{}{}", outcome.stdout, outcome.stderr);
    for run in &runs {
        let name = run.file_name().expect("a folder has a name").to_string_lossy();
        assert!(reported.contains(&*name) || reported.contains("runs"), "the path of the archive: {outcome}");
        let report: Program = trial.program().args(["report", &name, "--format", "json"]);
        let result: RunResult = report.run().expect_exit(0).result();
        result.conserved();
        assert_eq!(result.count("requests.failed"), 0, "{result}");
        assert!(result.count("requests.done") > 1_000, "{result}");
    }
}

#[test]
fn without_a_network_the_demo_says_so_immediately() {
    if !NetNs::available("without_a_network_the_demo_says_so_immediately") {
        return;
    }
    let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    let program = trial.program();
    let outcome =
        NetNs::shell(&program.arguments()[0], "exec \"$0\" demo").in_folder(trial.place().path()).run();
    outcome.expect_exit(5);
    assert!(outcome.stderr.starts_with("error: this host does not reach itself at 127.0.0.1:"), "{outcome}");
    assert!(
        outcome.stderr.ends_with("\nhint: ip link set lo up; if loopback is up, a firewall blocks it\n"),
        "{outcome}"
    );
    assert!(trial.place().runs("runs").is_empty(), "nothing was run: {outcome}");
}
