//! Programs of other authors that Go builds, for tests that run in their long form only.

use std::time::Duration;

use wavetank_testkit::{Outcome, Program, TestDir, is_left_to_long_form, skip};

/// For building one program.
const LIMIT: Duration = Duration::from_mins(20);

/// Builds the program of `package`, `PATH@VERSION`, in `place`. `None` if it cannot be built or if
/// `test` runs in its short form, which is then listed as skipped.
pub(crate) fn built(test: &str, package: &str, place: &TestDir) -> Option<Program> {
    if is_left_to_long_form(test) {
        return None;
    }
    let Some(go) = Program::foreign("go") else {
        skip(test, "go is not installed");
        return None;
    };
    let (path, _) = package.split_once('@').expect("a package with a version");
    let name = path.rsplit('/').next().unwrap_or(path);
    let folder = place.path().display().to_string();
    let outcome = go.args(["install", package]).environment("GOBIN", &folder).start().wait(LIMIT);
    result(test, name, place, &outcome)
}

/// Builds the program of a module of our own, given the names and texts of its files, in `place`.
/// `None` as with [`built`].
pub(crate) fn built_from(test: &str, files: &[(&str, &str)], place: &TestDir) -> Option<Program> {
    const NAME: &str = "program";
    if is_left_to_long_form(test) {
        return None;
    }
    let Some(go) = Program::foreign("go") else {
        skip(test, "go is not installed");
        return None;
    };
    for (name, text) in files {
        place.write(name, text);
    }
    let build = ["build", "-mod=readonly", "-o", NAME, "."];
    let outcome = go.args(build).in_folder(place.path()).start().wait(LIMIT);
    result(test, NAME, place, &outcome)
}

/// Returns the program that was built as `name`.
fn result(test: &str, name: &str, place: &TestDir, outcome: &Outcome) -> Option<Program> {
    if outcome.exit != Some(0) {
        skip(test, &format!("{name} cannot be built: {}", outcome.stderr.lines().last().unwrap_or_default()));
        return None;
    }
    let program = place.path().join(name).display().to_string();
    Some(Program::foreign("env").expect("env is always there").args([program]))
}
