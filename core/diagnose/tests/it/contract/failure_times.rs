//! When requests failed, as evidence of a failure.

use wavetank_measure::ErrorClass::{ConnectRefused, Reset};

use super::case::run;
use crate::common::Second;

#[track_caller]
fn check(failing: &[(i64, Second)], code: &str, expected: Option<&str>) {
    let diagnosis = run(failing.iter().map(|(at, second)| (*at, second.clone()))).diagnosis();
    let finding = diagnosis.findings.iter().find(|finding| finding.code == code);
    let finding = finding.unwrap_or_else(|| panic!("no {code} in {:?}", diagnosis.findings));
    let evidence = finding.evidence.split(" · ").find(|part| part.contains("between"));
    assert_eq!(evidence, expected, "{finding:?}");
}

#[test]
fn an_outage_has_its_time() {
    let refused = |at| (at, Second::at(at).failed(9_000, ConnectRefused, 0));
    let reset = |at| (at, Second::at(at).done(90, 5).failed(10, Reset, 5));
    check(
        &[refused(4), refused(5)],
        "connect_refused",
        Some("in 2.00 s of 20.0 s, between 4.00 s and 6.00 s"),
    );
    let apart = [refused(4), reset(9), refused(15)];
    check(&apart, "connect_refused", Some("in 2.00 s of 20.0 s, between 4.00 s and 16.0 s"));
    check(&apart, "reset", Some("in 1.00 s of 20.0 s, between 9.00 s and 10.0 s"));
    // Failures in most of the time are no outage.
    let many: Vec<_> = (0..11).map(reset).collect();
    check(&many, "reset", None);
}
