//! JSON and `JUnit`, for machines.

use crate::support;

use support::{closed, failed, golden, hopeless, interrupted, invalid, open, unanswered};
use wavetank_record::{RunRecord, SampleLine, Status};
use wavetank_report::{error_json, json, junit};
use wavetank_units::{Code, UserError};

/// Compares with the golden, and counts cases, failures, errors and skips.
fn check(name: &str, record: &RunRecord, counts: [usize; 4]) {
    let xml = junit(record);
    golden(&format!("{name}.xml"), &xml);
    let found = ["<testcase ", "<failure", "<error", "<skipped"].map(|tag| xml.matches(tag).count());
    assert_eq!(found, counts, "{xml}");
}

#[test]
fn each_outcome_has_its_cases() {
    check("closed", &closed(), [3, 0, 0, 0]);
    check("open", &open(), [5, 0, 0, 0]);
    check("failed", &failed(), [4, 2, 0, 1]);
    check("invalid", &invalid(), [5, 0, 1, 0]);
    check("interrupted", &interrupted(), [3, 0, 1, 2]);
    check("hopeless", &hopeless(), [3, 1, 0, 2]);
}

/// A server that reads only the XML learns why a run ended, and what to do.
#[test]
fn the_case_of_the_run_has_the_reason_of_every_ending() {
    let check = |record: &RunRecord, parts: &[&str]| {
        let xml = junit(record);
        let run = xml.split("<testcase ").nth(1).expect("the first case is the run");
        for part in parts {
            assert!(run.contains(part), "{part} is not in {xml}");
        }
        assert!(!xml.contains("classname=\"wavetank\""), "{xml}");
    };
    let hint = "hint: nothing listens there: is the server up, and is the port right?";
    check(&unanswered(), &["<failure message=\"no answer to the first request: connection refused; ", hint]);
    assert_eq!(junit(&unanswered()).matches("<skipped message=\"nothing was sent\"").count(), 2);
    check(&interrupted(), &["stopped after 4 s of 10 s: interrupted by a signal"]);
    check(
        &hopeless(),
        &["stopped after 5 s of 10 s: gave up because no request was done: connection refused"],
    );
    // A failed threshold has its own case, which does not say that the load was cut short.
    let stopped = RunRecord { cut_short: interrupted().cut_short, ..failed() };
    check(&stopped, &["<failure", "stopped after 10 s of 10 s"]);
    check(&failed(), &[]);
    assert!(!junit(&failed()).split("<testcase ").nth(1).expect("a case").contains("<failure"));
    // A run without any success has failed, whatever its thresholds say of it.
    let mut nothing = failed();
    (nothing.requests.failed, nothing.requests.done) = (nothing.requests.offered, 0);
    check(&nothing, &["<failure message="]);
}

/// Slow requests of a run that passed are no news.
#[test]
fn slow_requests_are_left_out_of_a_run_that_passed() {
    let slow = |status| {
        let mut record = open();
        record.verdict.status = status;
        let sample =
            SampleLine { kind: "slow".to_owned(), step: "GET /".to_owned(), ..SampleLine::default() };
        record.samples = vec![sample];
        junit(&record).contains("slow: GET /")
    };
    assert_eq!([Status::Pass, Status::Invalid].map(slow), [false, true]);
}

/// Text of the user cannot break the XML.
#[test]
fn words_are_escaped() {
    let mut record = failed();
    record.name = "a<b>&\"c\"\u{1}\u{202e}".to_owned();
    record.thresholds[0].expr = "p99(<x>&'\") < 5ms".to_owned();
    let xml = junit(&record);
    assert!(xml.contains("p99(&lt;x&gt;&amp;") && !xml.contains("<x>") && !xml.contains('\u{1}'), "{xml}");
    assert!(
        xml.contains("\u{fffd}") && !xml.contains('\u{202e}'),
        "direction marks reverse the text of a log: {xml}"
    );
}

#[test]
fn json_is_one_object_on_one_line() {
    let printed = json(&open());
    assert_eq!((printed.lines().count(), printed.ends_with('\n')), (1, true));
    assert_eq!(RunRecord::from_json(&printed), Ok(open()));
    // Zeros are hidden in text only.
    assert!(printed.contains("\"dropped\":0,\"open\":0") && printed.contains("\"checks\":[]"), "{printed}");
    let error = error_json(&UserError::usage(Code::UnitMissing, "`5` has no unit", "write `5s`"));
    assert_eq!(
        error,
        "{\"schema\":\"wavetank.error/1\",\"code\":\"unit_missing\",\"message\":\"`5` has no unit\",\"hint\":\"write `5s`\",\"exit\":2}\n"
    );
}
