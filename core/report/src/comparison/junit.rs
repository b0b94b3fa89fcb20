//! A comparison as `JUnit` XML: a case for each value that is judged.

use quick_junit::{NonSuccessKind, TestCaseStatus, TestSuite};
use wavetank_record::{CompareDoc, MetricDoc};

use super::headline::{headline, word};
use super::values::{change, change_interval, judgement};
use crate::junit::{case, in_report};

/// The comparison as a `JUnit` report. A regression that is shown is a failure, and an undecided
/// value is skipped. A difference alone is no failure: only `--max-regression` sets a limit.
pub fn comparison_junit(doc: &CompareDoc) -> String {
    in_report([comparison_suite(doc)])
}

/// Its suite.
pub(crate) fn comparison_suite(doc: &CompareDoc) -> TestSuite {
    let mut suite = TestSuite::new("compare");
    suite.add_property(("version", doc.version.as_str()));
    suite.add_property(("answer", word(doc.answer)));
    let mut all = match doc.exit {
        // A requested answer that could not be given must not count as a success.
        4 => TestCaseStatus::non_success(NonSuccessKind::Error),
        _ => TestCaseStatus::success(),
    };
    if doc.exit == 4 {
        all.set_type("undecided").set_message(headline(doc));
    }
    let mut whole = case("compare", "compare", all);
    whole.set_system_out(format!("{}: {}", word(doc.answer), headline(doc)));
    suite.add_test_case(whole);
    for metric in doc.metrics.iter().filter(|metric| metric.judged) {
        suite.add_test_case(case("compare", &metric.name, status(metric)));
    }
    suite
}

fn status(metric: &MetricDoc) -> TestCaseStatus {
    if metric.regression.as_deref() == Some("shown") {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_type("regression").set_message(format!("{}{}", change(metric), change_interval(metric)));
        return status;
    }
    if metric.verdict == "undecided" {
        let mut status = TestCaseStatus::skipped();
        status.set_message(judgement(metric));
        return status;
    }
    TestCaseStatus::success()
}
