//! The progress line of a second.

use wavetank_measure::{ConnCounts, ErrorClass, Interval, RequestCounters, StepSeries};
use wavetank_plan::Key;
use wavetank_report::progress;
use wavetank_units::Nanos;

fn interval(from_s: i64, len_s: i64) -> Interval {
    let mut step = StepSeries { key: Key::default(), ..StepSeries::default() };
    step.counters = RequestCounters { offered: 5_000, done: 4_990, ..RequestCounters::default() };
    step.response.record_n(3_900_000, 4_900);
    step.response.record_n(11_000_000, 90);
    Interval {
        from: Nanos::from_secs(from_s),
        len: Nanos::from_secs(len_s),
        steps: vec![step.clone(), step],
        ..Interval::default()
    }
}

fn check(interval: &Interval, expected: &str) {
    check_held(interval, None, expected);
}

/// In a run with hold phases: the target number of connections at the end of the interval, and the
/// number lost since the start.
fn check_held(interval: &Interval, held: Option<(u64, u64)>, expected: &str) {
    let line = progress(interval, held);
    assert_eq!(line, expected);
    assert!(line.chars().count() <= 130 && !line.contains('\n'), "{line}");
}

#[test]
fn a_second_is_one_line() {
    check(&interval(11, 1), "12 s  offered 10,000 req/s  done 9,980 req/s  p50 3.92 ms p99 11.0 ms");
    check(&interval(0, 10), "10 s  offered 1,000 req/s  done   998 req/s  p50 3.92 ms p99 11.0 ms");
    check(&interval(-3, 1), "-2 s warm-up  offered 10,000 req/s  done 9,980 req/s  p50 3.92 ms p99 11.0 ms");
    check(&interval(3_599, 1), "60 m 00 s  offered 10,000 req/s  done 9,980 req/s  p50 3.92 ms p99 11.0 ms");
    let mut troubled = interval(0, 1);
    let step = &mut troubled.steps[0];
    step.counters.errors[ErrorClass::Reset as usize] = 7;
    step.counters.dropped_by[0] = 1;
    (step.counters.late, step.open) = (3, 50_000);
    check(
        &troubled,
        " 1 s  offered 10,000 req/s  done 9,980 req/s  p50 3.92 ms p99 11.0 ms  failed 7 late 3 dropped 1 open 50,000",
    );
    check(&Interval::default(), " 0 s  offered     0 req/s  done     0 req/s  p50       - p99       -");
}

#[test]
fn a_run_with_holds_shows_held_connections() {
    let conns = ConnCounts { open: 699_000, opened: 25_000, ..ConnCounts::default() };
    let silent = Interval { steps: Vec::new(), conns, ..interval(27, 1) };
    check_held(&silent, Some((700_000, 0)), "28 s  held 699,000 of 700,000  opened 25,000/s  lost 0");
    let conns = ConnCounts { open: 1_995, opened: 3, lost: 5, failed: 2, ..ConnCounts::default() };
    check_held(
        &Interval { conns, ..interval(11, 1) },
        Some((2_000, 7)),
        "12 s  held 1,995 of 2,000  opened      3/s  lost 7  not opened 2  offered 10,000 req/s  done 9,980 req/s  p50 3.92 ms p99 11.0 ms",
    );
    check_held(&Interval::default(), Some((0, 0)), " 0 s  held 0 of 0  opened      0/s  lost 0");
}
