//! [`RunHarness`]: consecutive `wavetank run`s against scripted targets, in a directory of their
//! own.

use crate::program::{Outcome, Program};
use crate::result::RunResult;
use crate::retry_timing::{TimingMismatch, expect_time};
use crate::target::Target;
use crate::test_dir::TestDir;

/// The exit code of a run in doubt.
const INVALID: i32 = 3;

/// The binary under test with a folder for its archives.
#[derive(Debug)]
pub struct RunHarness {
    program: Program,
    place: TestDir,
}

impl RunHarness {
    /// For the binary at `path`.
    pub fn new(path: &str) -> Self {
        Self { program: Program::new(path), place: TestDir::new() }
    }

    /// The binary, without any arguments.
    pub fn program(&self) -> Program {
        self.program.clone().in_folder(self.place.path())
    }

    /// The folder the binary runs in; the runs directory is its `runs`.
    pub fn place(&self) -> &TestDir {
        &self.place
    }

    /// Returns `run URL ARGS… --format json`, not started yet.
    pub fn load<S: AsRef<str>>(&self, url: &str, words: impl IntoIterator<Item = S>) -> Program {
        self.program().args(["run", url]).args(words).args(["--format", "json"])
    }

    /// Runs load against `target` and checks what must be true in every run: the exit code, the
    /// conservation of its counters, and that it and the target counted the same number of
    /// requests.
    #[track_caller]
    pub fn run(&self, target: &Target, words: &str, exit: i32) -> RunResult {
        self.try_run(target, words, exit).unwrap_or_else(|off| panic!("{off}"))
    }

    /// As [`RunHarness::run`], for [`retry_timing`](crate::retry_timing()). A run may report itself
    /// as invalid because this machine delayed it; that is correct, and the other checks are then
    /// skipped.
    #[track_caller]
    pub fn try_run(&self, target: &Target, words: &str, exit: i32) -> Result<RunResult, TimingMismatch> {
        target.reset();
        let outcome = self.load(&target.url("/"), words.split_whitespace()).run();
        self.try_check(&outcome, target, exit)
    }

    /// The checks of [`RunHarness::run`] on the outcome of a program made by [`RunHarness::load`].
    #[track_caller]
    pub fn check(&self, outcome: &Outcome, target: &Target, exit: i32) -> RunResult {
        judge(outcome, target, exit).unwrap_or_else(|off| panic!("{off}"))
    }

    /// The checks of [`RunHarness::try_run`] on the outcome of a program made by
    /// [`RunHarness::load`]. A run that was late by more than a second has dropped requests, and
    /// nothing else can be said about it.
    #[track_caller]
    pub fn try_check(
        &self,
        outcome: &Outcome,
        target: &Target,
        exit: i32,
    ) -> Result<RunResult, TimingMismatch> {
        if exit != INVALID && outcome.exit != Some(INVALID) {
            let result = outcome.result();
            result.conserved().agrees_with(&target.settled());
            let behind = result.count_or_zero("dropped_by.behind");
            expect_time(behind == 0, || format!("{behind} requests were dropped as behind\n{outcome}"))?;
        }
        judge(outcome, target, exit)
    }
}

/// The checks of [`RunHarness::run`].
#[track_caller]
fn judge(outcome: &Outcome, target: &Target, exit: i32) -> Result<RunResult, TimingMismatch> {
    let truth = target.settled();
    if outcome.exit != Some(INVALID) {
        outcome.expect_exit(exit);
    }
    let result = outcome.result();
    result.conserved().agrees_with(&truth);
    let late = result.text("verdict.blame") == "generator";
    if outcome.exit == Some(INVALID) && exit != INVALID && late {
        return Err(TimingMismatch(format!("the run reports itself as invalid\n{outcome}")));
    }
    outcome.expect_exit(exit);
    Ok(result)
}
