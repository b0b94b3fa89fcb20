//! `JUnit` XML for continuous integration: one case for each threshold, and one for the run itself.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use wavetank_plan::UserError;
use wavetank_record::{RunRecord, Status, Threshold};

use crate::units;

/// The run as a `JUnit` report. A broken threshold is a failure, an undecided one skipped. The case `run` is an
/// error if the run is invalid or incomplete, and a failure if it failed for another reason than a threshold,
/// so that nothing red can turn green here.
pub fn junit(record: &RunRecord) -> String {
    let mut suite = TestSuite::new(record.name.as_str());
    suite.set_time(Duration::from_secs_f64(record.duration_s.0.clamp(0.0, 1e9)));
    suite.add_property(("run", record.id.as_str()));
    suite.add_property(("version", record.version.as_str()));
    suite.add_property(("verdict", record.verdict.status.name()));
    suite.add_property(("blame", record.verdict.blame.name()));
    suite.add_test_case(case("run", run_status(record)));
    for threshold in &record.thresholds {
        let name = if threshold.implicit {
            format!("{} (implicit)", threshold.expr)
        } else {
            threshold.expr.clone()
        };
        suite.add_test_case(case(&name, threshold_status(threshold)));
    }
    in_report(suite)
}

/// What ended before anything was sent, as a `JUnit` report with one case in error.
pub fn error_junit(error: &UserError) -> String {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_type(error.code).set_message(error.message.as_str()).set_description(error.hint.as_str());
    let mut suite = TestSuite::new("wavetank");
    suite.add_test_case(case("run", status));
    in_report(suite)
}

fn in_report(suite: TestSuite) -> String {
    let mut report = Report::new("wavetank");
    report.add_test_suite(suite);
    report.to_string().expect("a string takes all text, and the serializer escapes what XML cannot hold")
}

fn case(name: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname("wavetank");
    case
}

fn run_status(record: &RunRecord) -> TestCaseStatus {
    let kind = match record.verdict.status {
        Status::Pass => return TestCaseStatus::success(),
        Status::Invalid | Status::Incomplete => NonSuccessKind::Error,
        Status::Fail if record.thresholds.iter().any(|threshold| threshold.ok == Some(false)) => {
            return TestCaseStatus::success();
        }
        Status::Fail => NonSuccessKind::Failure,
    };
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(record.verdict.status.name()).set_message(units::headline(record));
    status
}

fn threshold_status(threshold: &Threshold) -> TestCaseStatus {
    let mut status = match threshold.ok {
        Some(true) => return TestCaseStatus::success(),
        Some(false) => TestCaseStatus::non_success(NonSuccessKind::Failure),
        None => TestCaseStatus::skipped(),
    };
    let value = units::threshold_value(threshold);
    let said: Vec<_> = [value, threshold.why.clone()].into_iter().filter(|part| !part.is_empty()).collect();
    status.set_message(said.join(": "));
    if threshold.ok == Some(false) {
        status.set_type("threshold");
    }
    status
}
