//! When requests failed, which counts do not show.

use wavetank_measure::ErrorClass::{ConnectRefused, ConnectTimeout, Reset};

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

/// Requests that were sent in the last second and waited for their timeouts.
#[test]
fn failures_after_the_load_count() {
    let timed_out = |at| Second::at(at).done(90, 5).failed(10, ConnectTimeout, 5);
    let notes = |last: i64| -> Vec<String> {
        let mut run = run([(19, timed_out(19))]);
        run.seconds.extend((20..last).map(|at| timed_out(at).seal()));
        let notes = run.diagnosis().notes;
        notes.iter().filter_map(|note| Some(note.strip_prefix("requests failed in ")?.to_owned())).collect()
    };
    let expected = "3.00 s of 20.0 s, between 19.0 s and 22.0 s: no answer to the connect in time";
    assert_eq!(notes(22), [expected]);
    assert!(notes(40).is_empty(), "no short outage");
}
