//! [`knee_junit`]: a search for continuous integration.

use std::time::Duration;

use quick_junit::{NonSuccessKind, TestCaseStatus, TestSuite};
use wavetank_record::SearchDoc;

use super::text::knee_text;
use crate::junit::{case, in_report};

/// One case: the knee. It is a failure if the lowest level does not pass, and an error if there is
/// no answer. Other levels that did not pass are the purpose of a search, and not failures.
pub fn knee_junit(doc: &SearchDoc) -> String {
    let mut suite = TestSuite::new(doc.name.as_str());
    suite.set_time(Duration::from_secs_f64(doc.took_s.0.clamp(0.0, 1e9)));
    suite.add_property(("search", doc.id.as_str()));
    suite.add_property(("version", doc.version.as_str()));
    suite.add_property(("end", doc.answer.end.as_str()));
    if let Some(knee) = doc.answer.knee {
        suite.add_property(("knee", format!("{}", knee.0).as_str()));
    }
    let status = match doc.answer.exit {
        0 => TestCaseStatus::success(),
        code => {
            let kind = if code == 1 { NonSuccessKind::Failure } else { NonSuccessKind::Error };
            let mut status = TestCaseStatus::non_success(kind);
            status.set_type(doc.answer.end.as_str()).set_message(doc.answer.headline.as_str());
            status
        }
    };
    let mut knee = case(&doc.name, "knee", status);
    knee.set_system_out(knee_text(doc));
    suite.add_test_case(knee);
    in_report([suite])
}
