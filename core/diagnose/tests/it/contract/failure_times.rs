//! When requests failed, which counts do not show.

use wavetank_measure::ErrorClass::{ConnectRefused, Reset};

use super::case::run;
use crate::common::Second;

#[track_caller]
fn check(failing: &[(i64, Second)], expected: &[&str]) {
    let diagnosis = run(failing.iter().map(|(at, second)| (*at, second.clone()))).diagnosis();
    let notes: Vec<&str> =
        diagnosis.notes.iter().filter_map(|note| note.strip_prefix("requests failed in ")).collect();
    assert_eq!(notes, expected);
}

#[test]
fn an_outage_has_its_time() {
    let refused = |at| (at, Second::at(at).failed(9_000, ConnectRefused, 0));
    let reset = |at| (at, Second::at(at).done(90, 5).failed(10, Reset, 5));
    check(&[refused(4), refused(5)], &["2.00 s of 20.0 s, between 4.00 s and 6.00 s: connection refused"]);
    check(
        &[refused(4), reset(9), refused(15)],
        &[
            "2.00 s of 20.0 s, between 4.00 s and 16.0 s: connection refused",
            "1.00 s of 20.0 s, between 9.00 s and 10.0 s: connection reset under an unanswered request",
        ],
    );
    // Failures in most of the time are no outage.
    check(&(0..11).map(reset).collect::<Vec<_>>(), &[]);
    check(&[], &[]);
}
