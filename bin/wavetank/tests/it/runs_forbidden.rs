//! `wavetank runs prune`, with the binary, as a user without permission to read some of the files.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use wavetank_testkit::{Program, RunHarness, Script, Target, skip};

/// A run that passed must not look like a damaged one to a user who may not read its result.
#[test]
fn what_may_not_be_read_is_not_removed_as_failed() {
    let name = "what_may_not_be_read_is_not_removed_as_failed";
    let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    let target = Target::start(Script::constant(Duration::ZERO));
    for _ in 0..2 {
        trial.load(&target.url("/"), ["-c", "1", "-n", "20", "--quiet"]).run().expect_exit(0);
    }
    let runs = trial.place().runs("runs");
    // It is unknown whether the second run finished.
    fs::remove_file(runs[1].join("run.json")).expect("the test's own folder is writable");
    let search = runs[0].with_file_name("20261121T190000Z-knee-zz00");
    fs::create_dir_all(search.join("runs")).expect("the test's own folder is writable");
    fs::write(search.join("search.json"), "{\"schema\":\"wavetank.search/1\"").expect("it is writable");
    for closed in [runs[0].join("run.json"), runs[1].join("plan.yaml"), search.join("search.json")] {
        fs::set_permissions(closed, Permissions::from_mode(0o000)).expect("it is the test's own");
    }
    let prune = ["runs", "prune", "--failed", "--yes"];
    let pruned = if fs::read(runs[0].join("run.json")).is_ok() {
        // Root may read everything, so it has to drop that capability.
        let wrapper = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"];
        let meek = |words: &[&str]| trial.program().args(words).under(wrapper).run();
        if Program::foreign("setpriv").is_none() || meek(&["--version"]).exit != Some(0) {
            return skip(name, "the user of the tests may read everything");
        }
        meek(&prune)
    } else {
        trial.program().args(prune).run()
    };
    pruned.expect_exit(0);
    for file in ["run.json", "plan.yaml", "search.json"] {
        let stays = |line: &&str| {
            line.starts_with("stays: ") && line.contains(&format!("/{file}`: Permission denied"))
        };
        assert_eq!(pruned.stdout.lines().filter(stays).count(), 1, "{file}: {pruned}");
    }
    assert!(pruned.stdout.contains("nothing to remove"), "{pruned}");
    assert!(runs.iter().chain([&search]).all(|folder| folder.exists()), "{pruned}");
}
