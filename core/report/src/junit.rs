//! `JUnit` XML for continuous integration: one case for each threshold, check and hook step, and
//! one for the run itself.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use wavetank_record::{CompareDoc, Finding, RunRecord, Status, Threshold};
use wavetank_units::quantity::format_grouped;
use wavetank_units::{UserError, is_control_char};

use crate::comparison::comparison_suite;
use crate::cut_short::cut_short_text;
use crate::examples_text::example;
use crate::format;
use crate::section::{NamedCheck, checks_by_name};
use crate::threshold_state::{ThresholdState, measured_value, reason};

/// The run as a `JUnit` report. A failed threshold is a failure, and an undecided one is skipped.
/// The case `run` is an error if the run is invalid or incomplete. It is a failure if the run
/// failed for another reason than a threshold, so that no failed run appears as passed here.
pub fn junit(record: &RunRecord) -> String {
    in_report([suite(record)])
}

/// The same, followed by a comparison as a separate suite.
pub fn junit_with_comparison(record: &RunRecord, comparison: &CompareDoc) -> String {
    in_report([suite(record), comparison_suite(comparison)])
}

fn suite(record: &RunRecord) -> TestSuite {
    let mut suite = TestSuite::new(record.name.as_str());
    suite.set_time(Duration::from_secs_f64(record.duration_s.0.clamp(0.0, 1e9)));
    suite.add_property(("run", record.id.as_str()));
    suite.add_property(("version", record.version.as_str()));
    suite.add_property(("verdict", record.verdict.status.name()));
    suite.add_property(("blame", record.verdict.blame.name()));
    let case = |name: &str, status| case(&record.name, name, status);
    let mut run = case("run", run_status(record));
    let examples = examples(record);
    if !examples.is_empty() {
        run.set_system_out(examples);
    }
    suite.add_test_case(run);
    for threshold in &record.thresholds {
        let name = if threshold.implicit {
            format!("{} (implicit)", threshold.expr)
        } else {
            threshold.expr.clone()
        };
        suite.add_test_case(case(&name, threshold_status(record, threshold)));
    }
    for check in checks_by_name(record) {
        let answers = check.held + check.failed;
        let said =
            format!("{} of {} answers failed it", format_grouped(check.failed), format_grouped(answers));
        let mut case = case(&format!("check {}", check.name), check_status(record, &check, &said));
        if check.failed > 0 {
            case.set_system_out(said);
        }
        suite.add_test_case(case);
    }
    for around in around_cases(record) {
        suite.add_test_case(around);
    }
    suite
}

/// A run that ended before anything was sent, as a `JUnit` report with one case in error.
pub fn error_junit(error: &UserError) -> String {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    let all = || std::iter::once(error).chain(&error.others);
    let reported = |of: fn(&UserError) -> &str| all().map(of).collect::<Vec<_>>().join("\n");
    status
        .set_type(error.code.as_str())
        .set_message(reported(|one| &one.message))
        .set_description(reported(|one| &one.hint));
    let mut suite = TestSuite::new("wavetank");
    suite.add_test_case(case("wavetank", "run", status));
    in_report([suite])
}

pub(crate) fn in_report(suites: impl IntoIterator<Item = TestSuite>) -> String {
    let mut report = Report::new("wavetank");
    report.add_test_suites(suites);
    let xml = report.to_string();
    let xml = xml.expect("a string takes all text, and the serializer escapes what XML cannot hold");
    let shown = |letter: char| if letter != '\n' && is_control_char(letter) { '\u{fffd}' } else { letter };
    xml.chars().map(shown).collect()
}

/// A case of the run, search or comparison `class`.
pub(crate) fn case(class: &str, name: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(class);
    case
}

fn run_status(record: &RunRecord) -> TestCaseStatus {
    let kind = match record.verdict.status {
        Status::Pass => return TestCaseStatus::success(),
        Status::Invalid | Status::Incomplete => NonSuccessKind::Error,
        Status::Fail if is_explained_elsewhere(record) => return TestCaseStatus::success(),
        Status::Fail => NonSuccessKind::Failure,
    };
    let decisive = || record.findings.iter().filter(|finding| finding.decisive);
    let hint = decisive().find(|finding| !finding.hint.is_empty());
    let ended = cut_short_text(record);
    let headline = format::headline(record);
    let is_repeated = ended.as_ref().is_some_and(|ended| ended.ends_with(&headline));
    let message = (!is_repeated)
        .then_some(headline)
        .into_iter()
        .chain(ended)
        .chain(hint.map(|finding| format!("hint: {}", finding.hint)));
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(record.verdict.status.name()).set_message(message.collect::<Vec<_>>().join("; "));
    let details: Vec<_> = decisive().map(finding_text).collect();
    if !details.is_empty() {
        status.set_description(details.join("\n"));
    }
    status
}

/// A finding in one line: its blame, message, evidence and hint.
fn finding_text(finding: &Finding) -> String {
    let hint = if finding.hint.is_empty() { String::new() } else { format!("hint: {}", finding.hint) };
    let parts =
        [format!("{}: {}", finding.blame.name(), finding.message), finding.evidence.to_string(), hint];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// Whether another case says why the run failed. No other case says why its load was cut short, or
/// how every request failed.
fn is_explained_elsewhere(record: &RunRecord) -> bool {
    if record.requests.done == 0 && record.requests.failed > 0 {
        return false;
    }
    let state = |threshold| ThresholdState::for_threshold(record, threshold);
    let broken = record.thresholds.iter().any(|threshold| state(threshold) == ThresholdState::Broken);
    let after = record
        .after
        .as_ref()
        .is_some_and(|after| !after.faults.is_empty() || after.checks.iter().any(|check| !check.ok));
    record.cut_short.is_none() && (broken || after)
}

/// A check fails requests, and thresholds say how many may fail. If the run passed, its checks
/// passed as well.
fn check_status(record: &RunRecord, check: &NamedCheck, said: &str) -> TestCaseStatus {
    if check.held + check.failed == 0 {
        let mut status = TestCaseStatus::skipped();
        status.set_message("no answer arrived to check");
        return status;
    }
    if check.failed == 0 || record.verdict.status == Status::Pass {
        return TestCaseStatus::success();
    }
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_type("check").set_message(said);
    status
}

/// One case for each check of `before` and `after`, and one for each step that failed otherwise.
fn around_cases(record: &RunRecord) -> Vec<TestCase> {
    let mut cases = Vec::new();
    for (when, around) in [("before", &record.before), ("after", &record.after)] {
        let Some(around) = around else { continue };
        for fault in &around.faults {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_type(when).set_message(fault.what.as_str());
            cases.push(case(&record.name, &format!("{when} {}", fault.step), status));
        }
        for check in &around.checks {
            let mut status = TestCaseStatus::success();
            if !check.ok {
                status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status.set_type(when).set_message(format!("found {}", check.found));
            }
            cases.push(case(&record.name, &format!("{when} {}: {}", check.step, check.name), status));
        }
    }
    cases
}

/// Notable requests, a line each: failures, and the slowest of each step unless the run passed.
fn examples(record: &RunRecord) -> String {
    let passed = record.verdict.status == Status::Pass;
    let shown = record.samples.iter().filter(|sample| !passed || sample.kind != "slow");
    let lines = shown.map(|sample| {
        let parts = example(record, sample).into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
        format!("{}: {}\n", sample.kind, parts.join(" · "))
    });
    lines.collect()
}

fn threshold_status(record: &RunRecord, threshold: &Threshold) -> TestCaseStatus {
    let outcome = ThresholdState::for_threshold(record, threshold);
    let mut status = match outcome {
        ThresholdState::Held => return TestCaseStatus::success(),
        ThresholdState::Broken => TestCaseStatus::non_success(NonSuccessKind::Failure),
        ThresholdState::HeldAsKnown | ThresholdState::NotJudged | ThresholdState::Undecided => {
            TestCaseStatus::skipped()
        }
    };
    let value = measured_value(record, threshold);
    let said = [value, reason(record, threshold).to_owned()];
    let said: Vec<_> = said.into_iter().filter(|part| !part.is_empty()).collect();
    status.set_message(said.join(": "));
    if outcome == ThresholdState::Broken {
        status.set_type("threshold");
    }
    status
}
